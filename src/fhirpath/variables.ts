// %context, %resource, %ucum, %`vs-…` and the variables given by the caller. https://hl7.org/fhir/R4/fhirpath.html#variables

import { didYouMean, nearest } from '../lib/nearest.ts'
import type { Position, Variable } from './ast.ts'
import { type FhirPathError, semanticError } from './errors.ts'
import { type Binding, EMPTY, type Items, type Node, type Scope, type State, type Types, typed } from './node.ts'
import { holder, rootHolder } from './reference.ts'
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
  const bound = scope.names?.get(name)
  if (bound) return boundNode(bound)
  if (name === 'context') return { types: scope.start, fixed: true, run: (_focus, state) => state.context }
  if (name === 'resource') return outer(scope.system, holder)
  if (name === 'rootResource') return outer(scope.system, rootHolder)
  if (scope.given.has(name)) return given(scope.system, name, scope.given.get(name))
  const text = CONSTANTS.get(name) ?? prefixed(name)
  if (text === undefined) throw unknownVariable(name, scope, at)
  const items: Items = Object.freeze([typed(text, 'System.String')])
  return { types: ['System.String'], constant: items[0], run: () => items }
}

const OF_THE_CONTEXT = new Set(['context', 'resource', 'rootResource'])

/** True for names that mean something without being defined in the expression: defineVariable() cannot take them. */
export function isTaken(name: string, { names, given }: Scope): boolean {
  return (
    OF_THE_CONTEXT.has(name) ||
    CONSTANTS.has(name) ||
    prefixed(name) !== undefined ||
    given.has(name) ||
    names?.has(name) === true
  )
}

/** A name of the host language. */
export function boundNode({ types, constant, read }: Binding): Node {
  if (!constant) return { types, run: (_focus, { env }) => read(env) }
  const items: Items = Object.freeze([constant])
  return { types, constant, run: () => items }
}

/** The error for a name that means nothing, with the one that was probably meant. */
export function unknownVariable(name: string, { names, given }: Scope, at: Position): FhirPathError {
  const meant = nearest(name, [...(names ?? given).keys()])
  return semanticError(`there is no variable \`${name}\`${didYouMean(meant)}`, at, meant)
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
function itemsOf(system: TypeSystem, value: unknown, type?: string): Items {
  if (value === undefined || value === null) return EMPTY
  if (Array.isArray(value)) return value.flatMap(one => [...itemsOf(system, one, type)])
  return [typed(value, type ?? typeOfJson(system, value))]
}
