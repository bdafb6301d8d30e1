// Reads one element of a value as JSON has it: choices, primitives with their `_name` siblings, resources, unknown shapes.
// https://hl7.org/fhir/R4/json.html

import type { Sink, State } from './node.ts'
import { spend } from './steps.ts'
import { jsonKey, systemType, type TypeSystem } from './types.ts'
import { typeOfJson } from './values.ts'

type Json = Record<string, unknown>

/** The sink that reads element `name` of values of `type`; undefined if the type has no such element. */
export function propertySink(
  system: TypeSystem,
  type: string,
  name: string,
  next: Sink,
  kept?: readonly string[],
): Sink | undefined {
  if (system.isPrimitive(type)) return primitivePart(type, name, next)
  const model = system.model.typeModel(type)
  if (!model) return systemType(type) && type !== 'System.Quantity' ? undefined : unknownProperty(system, name, next)
  const element = model.elements.get(name)
  if (!element) return undefined
  if (!element.choice) return property(system, name, name, element.types[0] ?? '', next)
  const options = (kept ?? element.types).map(option => ({
    key: jsonKey(element, option),
    type: option,
  }))
  const sinks = options.map(({ key, type }) => [key, property(system, key, name, type, next)] as const)
  return sinks.length > 6 ? manyChoices(new Map(sinks)) : fewChoices(sinks.map(([, sink]) => sink))
}

function fewChoices(sinks: readonly Sink[]): Sink {
  const [single] = sinks
  if (sinks.length === 1 && single) return single
  return (value, type, sibling, path, state) => {
    for (const sink of sinks) sink(value, type, sibling, path, state)
  }
}

/** Looks at the properties present instead of trying fifty names, as for `Extension.value`. */
function manyChoices(sinks: ReadonlyMap<string, Sink>): Sink {
  return (value, type, sibling, path, state) => {
    for (const key in value as Json) {
      spend(state)
      const sink =
        sinks.get(key) ?? (key.startsWith('_') && !(key.slice(1) in (value as Json)) && sinks.get(key.slice(1)))
      if (sink) sink(value, type, sibling, path, state)
    }
  }
}

/** The sink that reads one JSON property, whose name and type are known. */
export function property(system: TypeSystem, key: string, name: string, type: string, next: Sink): Sink {
  if (system.isPrimitive(type)) return primitiveProperty(key, name, type, next)
  if (system.isOpen(type)) return openProperty(system, key, name, next)
  return complexProperty(key, name, type, next)
}

function complexProperty(key: string, name: string, type: string, next: Sink): Sink {
  return (value, _type, _sibling, path, state) => {
    const child = (value as Json)[key]
    if (child === undefined || child === null) return
    spend(state, Array.isArray(child) ? child.length : 1)
    if (!Array.isArray(child)) return next(child, type, undefined, path && `${path}.${name}`, state)
    for (let i = 0; i < child.length; i++) {
      if (child[i] !== null) next(child[i], type, undefined, path && `${path}.${name}[${i}]`, state)
    }
  }
}

/** A resource inside a resource: its type is its own. */
function openProperty(system: TypeSystem, key: string, name: string, next: Sink): Sink {
  return complexProperty(key, name, '', (value, _type, sibling, path, state) =>
    next(value, typeOfJson(system, value), sibling, path, state),
  )
}

/** https://hl7.org/fhir/R4/json.html#primitive */
function primitiveProperty(key: string, name: string, type: string, next: Sink): Sink {
  const under = `_${key}`
  return (value, _type, _sibling, path, state) => {
    const child = (value as Json)[key]
    const sibling = (value as Json)[under]
    if (Array.isArray(child) || Array.isArray(sibling)) {
      const children = Array.isArray(child) ? child : []
      const siblings = Array.isArray(sibling) ? sibling : []
      const length = Math.max(children.length, siblings.length)
      spend(state, length)
      for (let i = 0; i < length; i++) {
        primitive(children[i], siblings[i], type, path && `${path}.${name}[${i}]`, state, next)
      }
    } else if (child !== undefined || sibling !== undefined) {
      primitive(child, sibling, type, path && `${path}.${name}`, state, next)
    }
  }
}

function primitive(
  value: unknown,
  sibling: unknown,
  type: string,
  path: string | undefined,
  state: State,
  next: Sink,
): void {
  const own = value === null ? undefined : value
  const extra = sibling === null ? undefined : sibling
  if (own !== undefined || extra !== undefined) next(own, type, extra, path, state)
}

/** `birthDate.extension`, `birthDate.id`, `birthDate.value`. */
function primitivePart(type: string, name: string, next: Sink): Sink | undefined {
  if (name === 'extension') return onSibling(complexProperty('extension', 'extension', 'Extension', next))
  if (name === 'id') return onSibling(complexProperty('id', 'id', 'string', next))
  if (name !== 'value') return undefined
  const system = systemType(type) ?? 'System.String'
  return (value, _type, _sibling, path, state) => {
    if (value !== undefined) next(value, system, undefined, path, state)
  }
}

function onSibling(read: Sink): Sink {
  return (_value, type, sibling, path, state) => {
    if (typeof sibling === 'object' && sibling !== null) read(sibling, type, undefined, path, state)
  }
}

/** An element of a value whose type is not known: own properties only, and `valueX` for `value` if X is a type. */
function unknownProperty(system: TypeSystem, name: string, next: Sink): Sink {
  return (value, type, sibling, path, state) => {
    if (typeof value !== 'object' || value === null) return
    if (Object.hasOwn(value, name))
      return eachOwn(system, (value as Json)[name], path && `${path}.${name}`, state, next)
    for (const key of Object.keys(value)) {
      spend(state)
      const choice = key.startsWith(name) && choiceType(system, key.slice(name.length))
      if (choice) return property(system, key, name, choice, next)(value, type, sibling, path, state)
    }
  }
}

/** Each value of a property whose type is not known. */
export function eachOwn(system: TypeSystem, child: unknown, path: string | undefined, state: State, next: Sink): void {
  const many = Array.isArray(child)
  spend(state, many ? child.length : 1)
  for (const [i, one] of (many ? child : [child]).entries()) {
    const place = path && many ? `${path}[${i}]` : path
    if (one !== null && one !== undefined) next(one, typeOfJson(system, one), undefined, place, state)
  }
}

function choiceType(system: TypeSystem, suffix: string): string | undefined {
  if (!/^[A-Z]/.test(suffix)) return undefined
  const primitiveName = suffix.charAt(0).toLowerCase() + suffix.slice(1)
  return [suffix, primitiveName].find(name => system.model.typeModel(name))
}
