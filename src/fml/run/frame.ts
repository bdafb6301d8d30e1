// What a running map holds: the variables of each group that is being run, and what the whole run shares.

import { newState } from '../../fhirpath/compile.ts'
import { EMPTY, type Env, type Items, type State } from '../../fhirpath/node.ts'
import type { Constant, Target } from '../ast.ts'
import { Exhausted, Refusal, type Site } from './map-error.ts'
import type { Order } from './order.ts'
import { type Standings, standingOf } from './standing.ts'

export type Json = Record<string, unknown>

/** What a transformation can use besides its sources; each member is optional. */
export interface RunOptions {
  /** Finds what a reference points at, for `resolve()`. */
  readonly resolve?: Env['resolve']
  /** Whether a code is in a value set, for `memberOf()`. */
  readonly memberOf?: Env['memberOf']
  /** Whether a resource conforms to a profile that is not of R4 itself, for `conformsTo()`. */
  readonly conformsTo?: Env['conformsTo']
  /** The time of `now()` and `today()`; default: the system's. */
  readonly now?: () => Date
  /** Default: random UUIDs. */
  readonly uuid?: () => string
  /** Receives the messages of `log` of a source. */
  readonly log?: (message: string, site: Site) => void
  /** Receives questions that stay open although the map runs on; each is reported once for a rule. */
  readonly remark?: (message: string, site: Site) => void
  /** Receives every rule that runs, in order. */
  readonly trace?: (step: Step) => void
}

/** One rule at work. */
export interface Step {
  readonly site: Site
  /** How deep in groups and rules it stands; the rules of the first group are 0. */
  readonly depth: number
  /** The place and value of what its first source found. */
  readonly path: string | undefined
  readonly value: unknown
}

/** The items of a list that rules share, and how many of them each has had. */
interface Share {
  readonly items: Json[]
  readonly used: Map<Target, number>
}

/** What one transformation shares. */
export interface Run {
  readonly options: RunOptions
  /** What lies outside of the data. */
  readonly resolve: NonNullable<Env['resolve']>
  /** Remarks already reported, by rule. */
  remarks: Map<Mark, Set<string>> | undefined
  readonly trace: RunOptions['trace']
  /** Lists that rules `share`, by the object they stand in. */
  shares: Map<object, Map<string, Share>> | undefined
  /** Lists that have to be put in order. */
  orders: Map<unknown[], Order> | undefined
  /** Choices with two types present and at least one still empty. */
  doubts: Doubt[] | undefined
  /** Values of constants used so far. */
  constants: Map<Constant, Items> | undefined
  /** Where the values of the data stand, for `resolve()` and `%resource`. */
  readonly standings: Standings
  /** That of the expression being evaluated: expressions do not nest, but for constants, which have one of their own. */
  readonly state: State
  depth: number
  steps: number
  /** The rule that is running, and the variables it runs with: what an error is about. */
  mark: Mark | undefined
  frame: Frame | undefined
}

/** Two types of one choice, and the rule that set the second. */
interface Doubt {
  readonly holder: Json
  readonly keys: readonly [string, string]
  readonly mark: Mark | undefined
}

/** A rule at work. */
export interface Mark {
  readonly site: Site
  /** Where the value of its first source is. */
  readonly slot: number | undefined
  /** Where the values are that the rule runs for, those of its last source first, then those of the rules around it. */
  readonly around: readonly number[]
  readonly depth: number
}

/** The variables of one group that is being run. */
export interface Frame extends Env {
  /** Sources hold Items, complex targets the object being made, primitive targets a Place. */
  readonly vars: unknown[]
  readonly shared: Run
}

/** A primitive being made: its value goes to `holder[key]`, its id and extensions to `holder['_' + key]`. */
export interface Place {
  readonly holder: Json
  readonly key: string
  /** Its place in a list; -1 where the element does not repeat. */
  readonly index: number
}

/** Part of a program. */
export type Action = (frame: Frame) => void

/** Expressions take no more steps than this for one input, each value that is looked at being some of them. */
const MOST_VALUES = 100_000_000
const MOST_VALUES_UNTRUSTED = 5_000_000

export function newRun(options: RunOptions, data: Pick<Standings, 'inputs' | 'made'>, untrusted: boolean): Run {
  const state = newState(EMPTY, NO_VARIABLES, untrusted ? MOST_VALUES_UNTRUSTED : MOST_VALUES)
  const { trace } = options
  const run: Run = {
    options,
    resolve: reference => options.resolve?.(reference) ?? unresolved(run),
    remarks: undefined,
    trace,
    shares: undefined,
    orders: undefined,
    doubts: undefined,
    constants: undefined,
    standings: { ...data, known: undefined },
    state,
    depth: 0,
    steps: 0,
    mark: undefined,
    frame: undefined,
  }
  return run
}

function unresolved(run: Run): undefined {
  const message =
    'resolve() finds only what is contained in the source or is an entry of the same Bundle; a reference points elsewhere'
  remark(run, message)
}

/** Says, once for the rule that is running, what stays without an answer. */
function remark(run: Run, message: string): void {
  const { options, mark } = run
  if (!options.remark || !mark) return
  run.remarks ??= new Map()
  const known = run.remarks.get(mark) ?? new Set()
  run.remarks.set(mark, known)
  if (known.has(message)) return
  known.add(message)
  options.remark(message, mark.site)
}

const NO_VARIABLES: Env = Object.freeze({})

export function newFrame(shared: Run, vars: unknown[]): Frame {
  const { options, resolve } = shared
  const { memberOf, conformsTo, now } = options
  return { vars, shared, resolve, memberOf, conformsTo, now, standingOf: standingOf as Env['standingOf'] }
}

export function itemsAt(frame: Frame, slot: number): Items {
  return frame.vars[slot] as Items
}

export function objectAt(frame: Frame, slot: number): Json {
  const found = frame.vars[slot] as Json | undefined
  if (!found) throw new Refusal('there is no target element to fill')
  return found
}

export function placeAt(frame: Frame, slot: number): Place {
  const found = frame.vars[slot] as Place | undefined
  if (!found) throw new Refusal('there is no target element to assign')
  return found
}

/** The value that a primitive being made has so far. */
export function valueAt({ holder, key, index }: Place): unknown {
  const held = holder[key]
  return index < 0 ? held : (held as unknown[])[index]
}

/** From here on, what goes wrong is about this rule. */
export function at(frame: Frame, mark: Mark): void {
  const { shared } = frame
  shared.mark = mark
  shared.frame = frame
}

/** More rules than this are not run for one input, nor more values tried for them. */
const MOST_STEPS = 1_000_000
/** Groups that call groups deeper than this go round in circles. */
const DEEPEST = 200

export function countSteps(run: Run, count = 1): void {
  run.steps += count
  if (run.steps > MOST_STEPS) throw new Exhausted(`more than ${MOST_STEPS} steps are needed`)
}

/** Runs a group, one level deeper. */
export function descend(run: Run, frame: Frame, body: Action): void {
  if (run.depth >= DEEPEST) throw new Refusal(`groups call each other more than ${DEEPEST} levels deep`)
  run.depth++
  body(frame)
  run.depth--
}
