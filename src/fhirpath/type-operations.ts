// is, as and ofType. http://hl7.org/fhirpath/N1/#types · https://hl7.org/fhir/R4/fhirpath.html#types

import type { Expression, Position } from './ast.ts'
import { executionError, semanticError } from './errors.ts'
import {
  booleanNode,
  EMPTY,
  type Items,
  type Node,
  only,
  type Scope,
  type State,
  type Step,
  type Types,
  typed,
} from './node.ts'
import { filterStep, follow, narrow } from './path.ts'
import { referencedType, referenceText, resolveReference, splitReference } from './reference.ts'
import { spend } from './steps.ts'
import type { TypeSystem } from './types.ts'
import { typeOfJson } from './values.ts'

/** The full name of a type written in an expression. */
export function typeNamed(parts: readonly string[], { system }: Scope, at: Position): string {
  const found = system.find(parts)
  if (!found) throw semanticError(`there is no type ${parts.join('.')}`, at)
  return found
}

/** The type written as a function's argument: `ofType(FHIR.Patient)`. */
export function typeArgument(argument: Expression, scope: Scope): string {
  return typeNamed(nameParts(argument), scope, argument.at)
}

function nameParts(expression: Expression): string[] {
  if (expression.kind === 'literal' && expression.type === 'String') return expression.text.split('.')
  if (expression.kind !== 'member') throw semanticError('expected the name of a type', expression.at)
  return [...(expression.input ? nameParts(expression.input) : []), expression.name]
}

/** `input is type`; `references` when the input ends in resolve(), so that the reference's text can answer. */
export function isNode(input: Node, type: string, { system }: Scope, at: Position, references: boolean): Node {
  return booleanNode((focus, state) => {
    const item = only(input.run(focus, state), at)
    if (!item) return undefined
    if (references) return refersTo(system, item.value, type, state)
    return system.isSubtype(item.type, type)
  })
}

/** True if a reference points at a resource of this type; undefined when nothing states its type. */
export function refersTo(system: TypeSystem, value: unknown, type: string, state: State): boolean | undefined {
  const found = referencedType(system, value, state)
  return found === undefined ? undefined : system.isSubtype(found, type)
}

/**
 * `input as type`, `input.ofType(type)`. Several values are filtered, although the operator takes one: R4's own search parameters,
 * such as `(Observation.component.value as Quantity)`, rely on it.
 */
export function ofTypeNode(input: Node, type: string, { system }: Scope): Node {
  const matches = (candidate: string) => matchesType(system, candidate, type)
  const open = type.startsWith('System.') ? false : system.isOpen(type)
  if (!input.types) return follow(input, typeStep(open ? undefined : [type], matches))
  const kept = input.types.filter(matches)
  if (kept.length === 0) return { types: open ? undefined : [type], run: () => EMPTY }
  if (kept.length === input.types.length) return input
  return narrow(input, kept) ?? follow(input, typeStep(kept, matches))
}

function typeStep(types: Types, matches: (type: string) => boolean): Step {
  return { ...filterStep(types, (_value, type) => matches(type)), plain: true }
}

/** Primitives match exactly: a `code` is no match for `string`. */
function matchesType(system: TypeSystem, candidate: string, type: string): boolean {
  return candidate === type || (!system.isPrimitive(type) && system.isSubtype(candidate, type))
}

/**
 * The function as(), which refuses more than one value, except for values of unknown types, since R4's own dom-3 applies it to all
 * descendants.
 */
export function asNode(input: Node, type: string, scope: Scope, at: Position): Node {
  const filtered = ofTypeNode(input, type, scope)
  if (!input.types) return filtered
  return {
    ...filtered,
    route: undefined,
    run(focus, state) {
      const all = filtered === input ? undefined : input.run(focus, state)
      const found = filtered.run(focus, state)
      if ((all ?? found).length > 1) throw executionError('as() needs a single value; ofType() takes several', at)
      return found
    },
  }
}

/** `resolve()`, and `resolve().ofType(Patient)`, which falls back on the reference's own type. */
export function resolveNode(input: Node, { system }: Scope, type?: string): Node {
  const types: Types = type === undefined || system.isOpen(type) ? undefined : [type]
  return {
    types,
    run(focus, state) {
      const references = input.run(focus, state)
      spend(state, 1 + references.length)
      const found: Items[] = references.map(item => resolveItem(system, item.value, state, type))
      return found.flat()
    },
  }
}

function resolveItem(system: TypeSystem, value: unknown, state: State, type: string | undefined): Items {
  const text = referenceText(value)
  if (text === undefined) return EMPTY
  const resource = resolveReference(text, value, state)
  if (resource !== undefined && resource !== null) {
    const actual = typeOfJson(system, resource)
    return type === undefined || system.isSubtype(actual, type) ? [typed(resource, actual)] : EMPTY
  }
  if (type === undefined || !refersTo(system, value, type, state)) return EMPTY
  const { type: resourceType, id } = splitReference(text)
  return [typed({ resourceType, id }, resourceType)]
}
