// %context, %resource, %ucum, %`vs-…` and the variables given by the caller. https://hl7.org/fhir/R4/fhirpath.html#variables

import type { Variable } from './ast.ts'
import { semanticError } from './errors.ts'
import { EMPTY, type Items, type Node, type Scope, type State, type Types, typed } from './node.ts'
import { holder } from './reference.ts'
import type { TypeSystem } from './types.ts'
import { typeOfJson } from './values.ts'

const CONSTANTS = new Map([
  ['sct', 'http://snomed.info/sct'],
  ['loinc', 'http://loinc.org'],
  ['ucum', 'http://unitsofmeasure.org'],
])
const PREFIXES = new Map([
  ['vs-', 'http://hl7.org/fhir/ValueSet/'],
  ['ext-', 'http://hl7.org/fhir/StructureDefinition/'],
])

/** Compiles `%name`; an unknown name is an error. */
export function variableNode({ name, at }: Variable, scope: Scope): Node {
  const defined = scope.defined.get(name)
  if (defined) return { types: defined.types, run: (_focus, state) => state.slots[defined.slot] ?? EMPTY }
  if (name === 'context') return { types: scope.start, fixed: true, run: (_focus, state) => state.context }
  if (name === 'resource') return outer(scope.system, holder)
  if (name === 'rootResource') return outer(scope.system, state => state.env.rootResource ?? holder(state))
  if (scope.given.has(name)) return given(scope.system, name, scope.given.get(name))
  const text = CONSTANTS.get(name) ?? prefixed(name)
  if (text === undefined) throw semanticError(`there is no variable %${name}`, at)
  const items: Items = Object.freeze([typed(text, 'System.String')])
  return { types: ['System.String'], constant: items[0], run: () => items }
}

function prefixed(name: string): string | undefined {
  for (const [prefix, url] of PREFIXES) if (name.startsWith(prefix)) return url + name.slice(prefix.length)
  return undefined
}

function outer(system: TypeSystem, read: (state: State) => unknown): Node {
  return { types: undefined, fixed: true, run: (_focus, state) => itemsOf(system, read(state)) }
}

function given(system: TypeSystem, name: string, types: Types): Node {
  const type = types?.length === 1 && !system.isOpen(types[0]!) ? types[0] : undefined
  return {
    types: type === undefined ? undefined : [type],
    fixed: true,
    run: (_focus, { env }) => (Object.hasOwn(env, name) ? itemsOf(system, env[name], type) : EMPTY),
  }
}

/** A caller's value as a collection: arrays are collections of several. */
export function itemsOf(system: TypeSystem, value: unknown, type?: string): Items {
  if (value === undefined || value === null) return EMPTY
  if (Array.isArray(value)) return value.flatMap(one => [...itemsOf(system, one, type)])
  return [typed(value, type ?? typeOfJson(system, value))]
}
