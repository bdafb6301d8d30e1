// Reads the elements of a source: with compiled code for known types, through FHIRPath's steps where the type depends on the data.

import { EMPTY, type Items, type Step, type Typed, type Types } from '../../fhirpath/node.ts'
import { elementStep } from '../../fhirpath/path.ts'
import type { TypeSystem } from '../../fhirpath/types.ts'
import { isObject } from '../../lib/json.ts'
import type { Name, Path } from '../ast.ts'
import { badForm, formOf, type HasForm, noObject } from '../run/form.ts'
import { type Frame, itemsAt } from '../run/frame.ts'
import { namesOf } from './bindings.ts'
import { nextSlot, noteElement, type Scope, type SharedRead, seeVariable } from './scope.ts'
import { unknownElement, unknownVariable } from './unknown.ts'

/** Values found by a path. */
export interface Found {
  readonly types: Types
  /** The codes the last element can have, where its value set is known and required. */
  readonly codes: ReadonlySet<string> | undefined
  /** The same, whatever conditions leave of them. */
  readonly domain?: ReadonlySet<string>
  readonly isList: boolean
  /** Part of what is being made. */
  readonly isGrowing?: boolean
  /** Its path from a parameter, which finds the same throughout a group. */
  readonly fixed?: string
  /** The same for one of its types alone, which is all that is read then. */
  readonly only?: (types: readonly string[]) => Found
  read(frame: Frame): Items
}

/** The values that one item has. */
type Reader = (item: Typed, frame: Frame) => Items

/** The values that `variable.element.element` finds; undefined, and reported, if there is no such thing. */
export function found({ names }: Path, scope: Scope): Found | undefined {
  const [first, ...rest] = names as [Name, ...Name[]]
  let current = variableFound(first, scope)
  for (const name of rest) current &&= elementFound(current, name, scope)
  return current
}

function variableFound(name: Name, scope: Scope): Found | undefined {
  seeVariable(name, scope)
  const variable = scope.variables.get(name.text)
  const bound = namesOf(scope).get(name.text)
  if (!variable || !bound) {
    unknownVariable(name, scope)
    return undefined
  }
  const codes = variable.kind === 'source' ? variable.codes : undefined
  const domain = variable.kind === 'source' ? variable.domain : undefined
  const base = { types: bound.types, codes, domain, isList: false }
  if (variable.kind !== 'source')
    return { ...base, isGrowing: variable.kind !== 'constant', read: frame => bound.read(frame) }
  const { slot, isGrowing } = variable
  const fixed = slot < scope.slots.parameters && !isGrowing ? String(slot) : undefined
  return { ...base, isGrowing, fixed, read: frame => itemsAt(frame, slot) ?? EMPTY }
}

function elementFound(from: Found, name: Name, scope: Scope): Found | undefined {
  const { system, see } = scope.build
  see?.({ kind: 'element', span: name.span, types: from.types, isMade: false })
  const step = stepTo(system, from.types, name.text)
  if (!step) {
    unknownElement(name, from.types ?? [], scope)
    return undefined
  }
  for (const type of from.types ?? []) noteRead(scope, type, name.text)
  const [only] = from.types ?? []
  const element = from.types?.length === 1 ? system.model.typeModel(only!)?.elements.get(name.text) : undefined
  const reader = (only !== undefined && element && directReader(system, element, name.text)) || steppingReader(step)
  const fixed = from.fixed && `${from.fixed} ${name.text}`
  const codes = element?.requiredValueSet ? codesOf(scope, element.requiredValueSet) : undefined
  const all: Found = {
    types: step.types,
    codes,
    domain: codes,
    isList: from.isList || (element?.max ?? 1) > 1,
    isGrowing: from.isGrowing,
    fixed,
    read: reading(from, reader, fixed, scope),
  }
  return step.only ? { ...all, only: types => narrowedFound(from, step.only!(types), all, types, scope) } : all
}

function narrowedFound(from: Found, step: Step, all: Found, types: readonly string[], scope: Scope): Found {
  const fixed = all.fixed && `${all.fixed} ${types.join('|')}`
  return { ...all, types, fixed, read: reading(from, steppingReader(step), fixed, scope) }
}

/** Reads an element; what several rules of a group read of a parameter is read once. */
function reading(from: Found, reader: Reader, fixed: string | undefined, scope: Scope): Found['read'] {
  const read = (frame: Frame): Items => readEach(from.read(frame), reader, frame)
  if (fixed === undefined) return read
  const { reads } = scope.slots
  const known = reads.get(fixed)
  if (known) known.slot ??= nextSlot(scope)
  const shared: SharedRead = known ?? { slot: undefined }
  if (!known) reads.set(fixed, shared)
  return frame => {
    const { slot } = shared
    return slot === undefined ? read(frame) : ((frame.vars[slot] ??= read(frame)) as Items)
  }
}

function readEach(items: Items, reader: Reader, frame: Frame): Items {
  const { length } = items
  if (length === 1) return reader(items[0]!, frame)
  if (length === 0) return EMPTY
  const out: Typed[] = []
  for (const item of items) for (const found of reader(item, frame)) out.push(found)
  return out
}

/** The step to an element, by its name or by the name that JSON has for one type of a choice. */
function stepTo(system: TypeSystem, types: Types, name: string): Step | undefined {
  const step = elementStep(system, types, name)
  if (step || types?.length !== 1) return step
  const property = system.properties(types[0]!).get(name)
  return property && elementStep(system, types, property.name)?.only?.([property.type])
}

/** Reads `key` of objects whose type has it as a single element of a single, closed type. */
function directReader(
  system: TypeSystem,
  element: { readonly types: readonly string[]; readonly choice: boolean; readonly max: number; readonly name: string },
  name: string,
): Reader | undefined {
  const [type] = element.types
  if (element.choice || element.types.length !== 1 || type === undefined || system.isOpen(type)) return undefined
  return system.isPrimitive(type) ? primitiveReader(name, type) : complexReader(name, type)
}

function complexReader(key: string, type: string): Reader {
  return ({ value, path }) => {
    const child = (value as Record<string, unknown>)[key]
    if (child === undefined || child === null) return EMPTY
    if (!Array.isArray(child)) return [objectItem(child, type, path && `${path}.${key}`)]
    const out: Typed[] = []
    for (let i = 0; i < child.length; i++) {
      if (child[i] !== null) out.push(objectItem(child[i], type, path && `${path}.${key}[${i}]`))
    }
    return out
  }
}

function objectItem(value: unknown, type: string, path: string | undefined): Typed {
  if (!isObject(value)) throw noObject(value, path)
  return { value, type, path, sibling: undefined }
}

function primitiveReader(key: string, type: string): Reader {
  const under = `_${key}`
  const hasForm = formOf(type)
  return ({ value: holder, path }) => {
    const value = (holder as Record<string, unknown>)[key]
    const sibling = (holder as Record<string, unknown>)[under]
    if (sibling === undefined) {
      if (value === undefined) return EMPTY
      if (hasForm(value)) return [{ value, type, path: path && `${path}.${key}`, sibling: undefined }]
    }
    const out: Typed[] = []
    if (!Array.isArray(value) && !Array.isArray(sibling)) {
      pushPrimitive(out, value, sibling, type, hasForm, path && `${path}.${key}`)
      return out
    }
    const values = Array.isArray(value) ? value : []
    const siblings = Array.isArray(sibling) ? sibling : []
    for (let i = 0; i < Math.max(values.length, siblings.length); i++) {
      pushPrimitive(out, values[i], siblings[i], type, hasForm, path && `${path}.${key}[${i}]`)
    }
    return out
  }
}

function pushPrimitive(
  out: Typed[],
  value: unknown,
  sibling: unknown,
  type: string,
  hasForm: HasForm,
  path: string | undefined,
): void {
  const own = value === null ? undefined : value
  const extra = isObject(sibling) ? sibling : undefined
  if (own !== undefined && !hasForm(own)) throw badForm(own, type, path)
  if (own !== undefined || extra !== undefined) out.push({ value: own, type, path, sibling: extra })
}

function steppingReader(step: Step): Reader {
  const sink = step.sink((value, type, sibling, path, state) => {
    state.out.push({ value, type, sibling, path })
  })
  return ({ value, type, sibling, path }, frame) => {
    const { state } = frame.shared
    const around = state.out
    const out: Typed[] = []
    state.env = frame
    state.out = out
    sink(value, type, sibling, path, state)
    state.out = around
    return out
  }
}

export function noteRead({ build }: Scope, type: string, element: string): void {
  noteElement(build, 'reads', type, element)
}

/** The codes of a value set, whatever their system; undefined where it is not known here. */
export function codesOf({ build }: Scope, valueSet: string): ReadonlySet<string> | undefined {
  const systems = build.structures.valueSet(valueSet)
  return systems && new Set([...systems.values()].flatMap(codes => [...codes]))
}
