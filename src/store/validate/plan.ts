// Compiles a type of the model into a plan: what each JSON key of its objects must hold.

import type { ElementModel, TypeModel } from '../../definitions/model.ts'
import { jsonKey, typeModel } from '../../definitions/r4.ts'
import { siblingCheck, valueCheck } from './field.ts'
import { compileInvariants, type Invariant, type InvariantEvaluator } from './invariants.ts'
import type { Walk } from './issues.ts'
import { primitive } from './primitives.ts'
import { singleCheck } from './value.ts'

/** Checks one value; the walk's path already names it. */
export type Check = (value: unknown, walk: Walk) => void

/** Checks the value of a JSON key, given the object it stands in. */
export type FieldCheck = (value: unknown, walk: Walk, object: Record<string, unknown>) => void

export interface Field {
  readonly name: string
  readonly check: FieldCheck
  /** Not 0 for required elements and choices: one bit for all keys of an element. */
  readonly bit: number
  readonly choice: boolean
}

export interface Plan {
  readonly model: TypeModel
  readonly fields: ReadonlyMap<string, Field>
  readonly bits: ReadonlyMap<number, ElementModel>
  /** The bits of the required elements. */
  readonly required: number
  readonly invariants: readonly Invariant[]
}

export interface Compiler {
  /** Returns the plan of a type, compiled at its first use. */
  plan(type: string): Plan
  /** The check of an element of type Resource: `Patient.contained`. */
  resource(element: string): Check
}

/** A compiler whose `Resource` elements are checked by `resource`. */
export function createCompiler(resource: Compiler['resource'], evaluator: InvariantEvaluator | undefined): Compiler {
  const plans = new Map<string, Plan>()
  const compiler = { plan, resource }
  return compiler

  function plan(type: string): Plan {
    const known = plans.get(type)
    if (known) return known
    const made = compile(typeModel(type)!, compiler, evaluator)
    plans.set(type, made)
    return made
  }
}

function compile(model: TypeModel, compiler: Compiler, evaluator: InvariantEvaluator | undefined): Plan {
  const watched = [...model.elements.values()].filter(element => element.min > 0 || element.choice)
  const bits = new Map(watched.map((element, i) => [2 ** i, element]))
  if (watched.length > 31)
    throw new Error(`${model.name} has more required elements and choices than an integer has bits`)
  const required = [...bits].filter(([, element]) => element.min > 0).reduce((sum, [bit]) => sum + bit, 0)
  const fields = new Map([...model.elements.values()].flatMap(element => fieldsOf(model, element, bits, compiler)))
  return { model, fields, bits, required, invariants: evaluator ? compileInvariants(model, evaluator) : [] }
}

function fieldsOf(
  model: TypeModel,
  element: ElementModel,
  bits: ReadonlyMap<number, ElementModel>,
  compiler: Compiler,
): [string, Field][] {
  const bit = [...bits].find(([, it]) => it === element)?.[0] ?? 0
  return element.types.flatMap(type => {
    const key = jsonKey(element, type)
    const field = (check: FieldCheck): Field => ({ name: element.name, check, bit, choice: element.choice })
    const value = field(valueCheck(element, type, key, singleCheck(model, element, type, compiler)))
    const hasSibling = primitive(type) && element.name !== 'id'
    return hasSibling
      ? [
          [key, value],
          [`_${key}`, field(siblingCheck(element, key, compiler))],
        ]
      : [[key, value]]
  })
}
