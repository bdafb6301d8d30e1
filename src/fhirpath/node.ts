// Compiled expressions: closures from a collection to a collection, with the types known beforehand.

import type { Call, Expression, Member, Position, Variable } from './ast.ts'
import { executionError } from './errors.ts'
import { type Steps, spend } from './steps.ts'
import type { TypeSystem, Types } from './types.ts'

export type { Types } from './types.ts'

/** One value of a collection, with the type it has. */
export interface Typed {
  /** JSON as it stands in the resource; for System types see values.ts. Undefined: a primitive that is only extensions. */
  readonly value: unknown
  /** `Quantity`, `code`, `Observation.component`; `System.Boolean`… for what an expression computed; `''` if unknown. */
  readonly type: string
  /** `Patient.name[0].given[1]`, when requested. */
  readonly path: string | undefined
  /** For primitives: the `_name` object, which holds its id and extensions. */
  readonly sibling: unknown
}

export type Items = readonly Typed[]

/** What the world outside the expression offers. Any other key is a variable: `{ patient }` is `%patient`. */
export interface Env {
  /** `%resource`: the resource that holds the focus. Absent: the focus itself. */
  readonly resource?: unknown
  /** `%rootResource`: the resource that contains `%resource`, or `%resource` itself. */
  readonly rootResource?: unknown
  /** For a host whose focus is not one resource: where an object of its data, or a value computed from it, stands. */
  readonly standingOf?: (value: unknown, env: Env) => Standing | undefined
  /** What `resolve()` finds for a reference that is neither contained nor in the same Bundle. */
  readonly resolve?: (reference: string) => unknown
  /** True if a code, Coding or CodeableConcept is in a value set; undefined if that cannot be decided. */
  readonly memberOf?: (value: unknown, type: string, valueSet: string) => boolean | undefined
  /** Whether a value of this type conforms to a profile; undefined if the profile is not known. */
  readonly conformsTo?: (value: unknown, profile: string, type: string) => boolean | undefined
  /** The time of `now()`, `today()` and `timeOfDay()`. */
  readonly now?: () => Date
  /** Receives what `trace()` sees. */
  readonly trace?: (name: string, values: readonly unknown[]) => void
  readonly [variable: string]: unknown
}

/** One evaluation's state; its budget is that of all the work of the evaluation. */
export interface State extends Steps {
  env: Env
  /** `%context`: what the whole expression is evaluated on. */
  context: Items
  /** Collects what a path finds. */
  out: Typed[]
  /** `$index` and `$total` of the innermost function that sets them. */
  index: number
  total: Items
  /** The instant of this evaluation, fixed at first use. */
  now: Date | undefined
  /** What defineVariable() defined, by slot. */
  slots: Items[]
}

/** Where a value stands in the data of a host whose focus is not one resource. */
export interface Standing {
  /** The resource that holds the value. */
  readonly resource: unknown
  /** The resource that contains `resource`, or `resource` itself. */
  readonly rootResource: unknown
  /** Finds what a reference names among the entries of the Bundle around it. */
  bundled(reference: string): unknown
}

/** A compiled expression. */
export interface Node {
  readonly types: Types
  /** Evaluates with `focus` as `$this`. */
  run(focus: Items, state: State): Items
  /** For expressions that yield at most one Boolean: the same without building a collection. */
  readonly test?: (focus: Items, state: State) => boolean | undefined
  /** For a path, the steps it takes, so that the next step can be joined to it. See path.ts. */
  readonly route?: Route
  /** Properties of the focus, as JSON has them: where it has none of these, the node yields nothing. Undefined: not known. */
  readonly reads?: readonly string[]
  /** The order of what it yields means nothing, as with children(). */
  readonly unordered?: boolean
  /** Yields the same throughout one evaluation, whatever `$this` is: `%resource.descendants()`. */
  readonly fixed?: boolean
  /** For literals: their value, known before any data. */
  readonly constant?: Typed
  /** For unions of texts: `'a' | 'b'`. */
  readonly texts?: ReadonlySet<string>
}

/** Receives each value a path step finds. Plain arguments: no object is made until the end of a path. */
export type Sink = (value: unknown, type: string, sibling: unknown, path: string | undefined, state: State) => void

/** One step of a path. */
export interface Step {
  readonly types: Types
  sink(next: Sink): Sink
  /** What it finds depends on nothing but the value it starts from. */
  readonly plain?: boolean
  /** The JSON property that it reads, where that is a primitive which does not repeat. */
  readonly key?: string
  /** The JSON properties that it may read of a value; undefined: not known. */
  readonly reads?: readonly string[]
  /** The same step for some of its types only, for a choice followed by `ofType`. */
  readonly only?: (types: readonly string[]) => Step
}

/** Where a path starts (undefined: at the focus) and the steps it takes. */
export interface Route {
  readonly source: Node | undefined
  readonly steps: readonly Step[]
}

/** What an expression is compiled against. */
export interface Scope {
  readonly system: TypeSystem
  /** The types of `$this`. */
  readonly types: Types
  /** Refuse elements the types do not have. */
  readonly strict: boolean
  /** Refuse functions whose cost the size of the data does not bound. */
  readonly untrusted: boolean
  /** Types of `%name` variables given by the caller; a name that is not here is unknown. */
  readonly given: ReadonlyMap<string, Types>
  /** Slots of what defineVariable() defined so far. */
  readonly defined: Map<string, { readonly slot: number; readonly types: Types }>
  /** The types of `%context`. */
  readonly start: Types
  readonly counter: { slots: number }
  readonly totals?: Types
  /** The names that the host language defines. */
  readonly names?: Names
  /** Elements may be written as JSON has them: `valueString` for `value`. */
  readonly jsonNames?: boolean
  /** Inside of an argument that is evaluated on each item, where elements come before the names of the host language. */
  readonly inner?: boolean
  /** Receives each name of the expression with the types that it is looked up in. */
  readonly watch?: Watch
}

/** Receives a name of an expression: `types` are those that an element or a function of this name is for. */
export type Watch = (name: Member | Call | Variable, types: Types) => void

/** A name of the host language: written `%name`, or `name` at the beginning of a path. */
export interface Binding {
  readonly types: Types
  /** Its value where that is known already. */
  readonly constant?: Typed
  read(env: Env): Items
}

/** The names of the host language that an expression may use. */
export type Names = Pick<ReadonlyMap<string, Binding>, 'get' | 'has' | 'keys'>

/** A function call about to be compiled. */
export interface CallSite {
  readonly name: string
  readonly at: Position
  /** What the function is called on. */
  readonly input: Node
  readonly args: readonly Expression[]
  readonly scope: Scope
  /** An argument evaluated once, on the `$this` around the call. */
  arg(index: number): Node
  /** An argument evaluated on each item of the input, which may have these types. */
  lambda(argument: number | Expression, types?: Types, totals?: Types): Node
}

export const EMPTY: Items = Object.freeze([])
const TRUE: Items = Object.freeze([boolean(true)])
const FALSE: Items = Object.freeze([boolean(false)])

function boolean(value: boolean): Typed {
  return Object.freeze({ value, type: 'System.Boolean', path: undefined, sibling: undefined })
}

/** A value without a place in a resource. */
export function typed(value: unknown, type: string): Typed {
  return { value, type, path: undefined, sibling: undefined }
}

/** A truth value as a collection. */
function truth(value: boolean | undefined): Items {
  return value === undefined ? EMPTY : value ? TRUE : FALSE
}

const BOOLEAN: readonly string[] = ['System.Boolean']

/** A fixed node that is evaluated once; any other node as it is. */
export function once(node: Node, { counter }: Scope): Node {
  if (!node.fixed) return node
  const slot = counter.slots++
  return { ...node, route: undefined, run: (focus, state) => (state.slots[slot] ??= node.run(focus, state)) }
}

/** A node that answers yes, no or nothing. */
export function booleanNode(answer: (focus: Items, state: State) => boolean | undefined): Node {
  const test = (focus: Items, state: State): boolean | undefined => {
    spend(state)
    return answer(focus, state)
  }
  return { types: BOOLEAN, test, run: (focus, state) => truth(test(focus, state)) }
}

/** A node whose truth is wanted: a single item that is not a Boolean counts as true. http://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections */
export function testOf(node: Node, at: Position): (focus: Items, state: State) => boolean | undefined {
  return node.test ?? ((focus, state) => toBoolean(node.run(focus, state), at))
}

/** Singleton evaluation where a Boolean is expected. */
function toBoolean(items: Items, at: Position): boolean | undefined {
  const item = only(items, at)
  if (item?.value === undefined) return undefined
  return typeof item.value === 'boolean' ? item.value : true
}

/** The one item of a collection that must not have more. */
export function only(items: Items, at: Position): Typed | undefined {
  if (items.length > 1) throw executionError(`expected one value, found ${items.length}`, at)
  return items[0]
}
