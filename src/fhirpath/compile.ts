// FHIRPath: compiles an expression once, for a type, into a function that is called for each resource.
// http://hl7.org/fhirpath/N1/ · https://hl7.org/fhir/R4/fhirpath.html

import type { Expression } from './ast.ts'
import { build } from './build.ts'
import {
  EMPTY,
  type Env,
  type Items,
  type Names,
  type Node,
  type Scope,
  type State,
  type Typed,
  type Types,
  testOf,
  type Watch,
} from './node.ts'
import { parse } from './parser.ts'
import type { Steps } from './steps.ts'
import { type Model, type TypeSystem, typeSystem } from './types.ts'
import { toJson, toResults, typeOfJson } from './values.ts'

export type { Binding, Env, Items, Names, Typed, Types } from './node.ts'
export type { Steps } from './steps.ts'

export interface CompileOptions {
  /** The types there are: `{ typeModel }` of `src/definitions/r4.ts`. */
  readonly model: Model
  /** The type of the focus, e.g. `Patient` or `Patient.contact`; absent or abstract: known from its `resourceType` only. */
  readonly type?: string
  /** The `%variables` that `env` will hold, with their types as far as known. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** False: elements that do not exist are empty instead of an error. */
  readonly strict?: boolean
  /**
   * True for expressions that come with a request, such as a FHIRPath Patch: regular expressions and other functions
   * of unbounded cost are refused, and evaluation stops after a million steps, or after as many as it is given.
   */
  readonly untrusted?: boolean
  /** Tell where each value stands: `Patient.name[0].given[1]`. */
  readonly paths?: boolean
  /** Give what is found as the evaluation has it: primitives that are only extensions too. */
  readonly raw?: boolean
}

/** Evaluates on a focus; returns plain JSON values. */
export type Compiled = (focus: unknown, env?: Env) => unknown[]

/**
 * Evaluates on a focus; gives values with their types.
 * `steps` are what it may cost, and are counted down, so that several evaluations can share them.
 * @throws FhirPathError if it fails on the data, TooCostly if the steps do not suffice.
 */
export interface CompiledTyped {
  (focus: unknown, env?: Env, steps?: Steps): readonly Typed[]
  /** Properties of the focus, as JSON has them: where it has none of these, nothing is found. Undefined: not known. */
  readonly reads: readonly string[] | undefined
}

/** Evaluates a condition on a focus; undefined when there is no answer. */
export type CompiledBoolean = (focus: unknown, env?: Env) => boolean | undefined

/** An expression to plain values. Throws a FhirPathError if it cannot be read, or names what the type does not have. */
export function compile(expression: string | Expression, options: CompileOptions): Compiled {
  const run = compileTyped(expression, options)
  return (focus, env) => run(focus, env).map(toJson)
}

/**
 * An expression to values with their FHIR types: `code` or `Coding`, `Period` or `dateTime`. What the expression
 * computes itself has a System type (`System.Boolean`). Primitives that are only extensions are left out, except with `raw`.
 */
export function compileTyped(expression: string | Expression, options: CompileOptions): CompiledTyped {
  const { node, start, budget } = prepare(expression, options)
  const run = (focus: unknown, env: Env = NOTHING, steps?: Steps): readonly Typed[] => {
    const items = start(focus)
    const state = newState(items, env, steps?.budget ?? budget)
    try {
      const found = node.run(items, state)
      return options.raw ? found : toResults(found)
    } finally {
      if (steps) steps.budget = state.budget
    }
  }
  return Object.assign(run, { reads: node.reads })
}

/**
 * A condition, such as an invariant: empty is undefined, a single value that is not a Boolean is true, several are an
 * error. http://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections
 */
export function compileBoolean(expression: string | Expression, options: CompileOptions): CompiledBoolean {
  const { node, start, tree, budget } = prepare(expression, options)
  const test = testOf(node, tree.at)
  return (focus, env = NOTHING) => {
    const items = start(focus)
    return test(items, newState(items, env, budget))
  }
}

/** An expression inside a text of another language, which has values with their types already. */
export interface Inner {
  /** The types it can yield; undefined when they depend on the data, none when it never yields anything. */
  readonly types: Types
  /** Its value where it is a literal. */
  readonly constant: Typed | undefined
  /** Whether it defines variables of its own: each evaluation then needs fresh slots. */
  readonly hasSlots: boolean
  /** The host's state has its variables (`env`) and the focus (`context`), and how many values may be looked at. */
  run(focus: Items, state: State): Items
  test(focus: Items, state: State): boolean | undefined
}

export interface InnerOptions {
  readonly system: TypeSystem
  /** The types of the focus; none: there is no focus, so a path begins with a name. */
  readonly types: Types
  /** The names that the host language defines. */
  readonly names: Names
  readonly untrusted: boolean
  readonly watch?: Watch
}

/** Compiles an expression for a host language. Throws a FhirPathError as `compile` does. */
export function compileInner(tree: Expression, { system, types, ...options }: InnerOptions): Inner {
  const scope = scopeOf(system, types, { strict: true, jsonNames: true, ...options })
  const node = build(tree, scope)
  return {
    types: node.types,
    constant: node.constant,
    hasSlots: scope.counter.slots > 0,
    run: (focus, state) => node.run(focus, state),
    test: testOf(node, tree.at),
  }
}

function scopeOf(system: TypeSystem, types: Types, more: Pick<Scope, 'strict' | 'untrusted'> & Partial<Scope>): Scope {
  return { system, types, start: types, given: new Map(), defined: new Map(), counter: { slots: 0 }, ...more }
}

const UNTRUSTED_BUDGET = 1_000_000
/** Never reached in practice; not Infinity, because small integers are counted down faster. */
const TRUSTED_BUDGET = 1_000_000_000

const NOTHING: Env = Object.freeze({})

interface Prepared {
  readonly tree: Expression
  readonly node: Node
  readonly start: (focus: unknown) => Items
  readonly budget: number
}

function prepare(expression: string | Expression, options: CompileOptions): Prepared {
  const tree = typeof expression === 'string' ? parse(expression) : expression
  const system = typeSystem(options.model)
  const { type, strict = true, paths = false, untrusted = false } = options
  const known: Types = type === undefined || system.isOpen(type) ? undefined : [type]
  const given = new Map(Object.entries(options.variables ?? {}).map(([name, one]) => [name, one ? [one] : undefined]))
  const scope = scopeOf(system, known, { strict, untrusted, given })
  const start = (focus: unknown) => startItems(focus, known?.[0], paths, options.model)
  return { tree, node: build(tree, scope), start, budget: untrusted ? UNTRUSTED_BUDGET : TRUSTED_BUDGET }
}

function startItems(focus: unknown, type: string | undefined, paths: boolean, model: Model): Items {
  if (focus === undefined || focus === null) return EMPTY
  const actual = type ?? typeOfJson(typeSystem(model), focus)
  return [{ value: focus, type: actual, path: paths ? actual : undefined, sibling: undefined }]
}

/** The state of one evaluation, or, for a host language, of several that do not nest. */
export function newState(context: Items, env: Env, budget: number): State {
  return { env, context, out: [], index: 0, total: EMPTY, now: undefined, slots: [], budget }
}
