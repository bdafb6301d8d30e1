// The FHIRPath invariants of a type, run by whatever evaluator the validator was given.

import type { ConstraintModel, TypeModel } from '../../definitions/model.ts'
import { jsonKey } from '../../definitions/r4.ts'
import { expressionOf, note, type Walk } from './issues.ts'

/**
 * Compiles an invariant of a type; undefined leaves it out. The compiled test takes the node in focus (the object, or
 * the value of `constraint.element`), the resource it is in (the contained one, if it is in one) and that resource's container.
 */
export type InvariantEvaluator = (
  constraint: ConstraintModel,
  typeName: string,
) => ((node: unknown, resource: unknown, root: unknown) => boolean) | undefined

export interface Invariant {
  readonly constraint: ConstraintModel
  readonly keys: readonly string[]
  readonly holds: (node: unknown, resource: unknown, root: unknown) => boolean
}

// Checked without FHIRPath (ele-1: nothing empty; ext-1; dom-2 to dom-5; ref-1: references.ts; txt-1 and txt-2: lib/xhtml.ts), or advice that
// would warn of nearly every resource a program writes (dom-6: a narrative is best practice).
const elsewhere = new Set(['ele-1', 'ext-1', 'dom-2', 'dom-3', 'dom-4', 'dom-5', 'dom-6', 'ref-1', 'txt-1', 'txt-2'])

/** The invariants of a type that the evaluator takes on. */
export function compileInvariants(model: TypeModel, evaluator: InvariantEvaluator): Invariant[] {
  return model.constraints.flatMap(constraint => {
    const holds = elsewhere.has(constraint.key) ? undefined : evaluator(constraint, model.name)
    return holds ? [{ constraint, keys: keysOf(model, constraint.element), holds }] : []
  })
}

/** Runs invariants on an object whose structure is valid. */
export function runInvariants(invariants: readonly Invariant[], object: Record<string, unknown>, walk: Walk): void {
  for (const invariant of invariants) {
    for (const node of nodesOf(invariant, object)) {
      const problem = failure(invariant, node, walk)
      if (problem) noteFailure(invariant.constraint, problem, walk)
    }
  }
}

function nodesOf({ constraint, keys }: Invariant, object: Record<string, unknown>): unknown[] {
  if (!constraint.element) return [object]
  return keys.flatMap(key => object[key] ?? [])
}

function failure({ constraint, holds }: Invariant, node: unknown, walk: Walk): string | undefined {
  try {
    return holds(node, walk.resource, walk.root) ? undefined : `${constraint.human} (${constraint.key})`
  } catch (error) {
    return `${constraint.key} could not be evaluated: ${(error as Error).message}`
  }
}

function noteFailure({ severity, element }: ConstraintModel, diagnostics: string, walk: Walk): void {
  note(walk, { severity, code: 'invariant', diagnostics, expression: expressionOf(walk, element) })
}

function keysOf(model: TypeModel, name: string | undefined): string[] {
  const element = name === undefined ? undefined : model.elements.get(name)
  return element ? [...new Set(element.types.map(type => jsonKey(element, type)))] : []
}
