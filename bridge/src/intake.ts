// The one way in: what inputs hand over within two turns of the event loop is stored by one commit, then each is answered.

import type { Clock } from './clock.ts'
import type { Limits } from './config-shape.ts'
import { kindOf, type Log } from './log.ts'
import { type Fullness, fullness } from './state/fullness.ts'
import { addItem, type Incoming } from './state/items.ts'
import type { State } from './state/state.ts'

export type Outcome =
  | { readonly kind: 'stored'; readonly duplicates: number }
  /** A limit is reached: the sender is to come again. */
  | { readonly kind: 'full'; readonly reason: string }
  /** The disk or the database failed. */
  | { readonly kind: 'failed' }

/** Items that are stored together or not at all. */
export interface Unit {
  readonly items: readonly Incoming[]
  /** What is to be stored in the same transaction. */
  readonly also?: () => void
  /** Called when the items are on disk, or will not be; in the order of `put`. */
  readonly done: (outcome: Outcome) => void
}

export interface Intake {
  put(unit: Unit): void
  /** How full the agent was at the last look, at most a second ago. */
  fullness(): Fullness
  /** What keeps the agent from storing anything, as a warning; undefined: the last commit succeeded. */
  trouble(): string | undefined
}

/** Milliseconds for which a look at the limits holds. */
const lookEvery = 1000

interface Parts {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
  readonly limits: () => Limits
  /** Called when something was stored. */
  readonly onStored: () => void
}

export function createIntake(parts: Parts): Intake {
  let waiting: Unit[] = []
  let look: { readonly at: number; readonly fullest: Fullness } | undefined
  const fullest = (): Fullness => {
    const now = parts.clock.now()
    if (!look || Math.abs(now - look.at) >= lookEvery)
      look = { at: now, fullest: fullness(parts.state, parts.limits(), now)[0]! }
    return look.fullest
  }
  let failedAt: number | undefined
  const flush = (): void => {
    const units = waiting
    waiting = []
    const isFailing = answerAll(parts, units, fullest())
    if (isFailing !== undefined) failedAt = isFailing ? (failedAt ?? parts.clock.now()) : undefined
  }
  return {
    put(unit) {
      // The second turn takes what came while the first was read: fewer commits, and no timer that a single sender would wait for.
      if (waiting.push(unit) === 1) setImmediate(() => setImmediate(flush))
    },
    fullness: fullest,
    trouble: () =>
      failedAt === undefined
        ? undefined
        : `nothing can be stored since ${new Date(failedAt).toISOString()}, inputs refuse: the disk or the database fails`,
  }
}

/** Returns whether storing failed; undefined if nothing was to be stored. */
function answerAll(parts: Parts, units: readonly Unit[], fullest: Fullness): boolean | undefined {
  // A unit without items is a place in the row of answers: it is answered though the agent is full.
  const isFull = fullest.share >= 1
  const storable = isFull ? [] : units.filter(({ items, also }) => items.length > 0 || also)
  const results = stored(parts, storable)
  for (const unit of units) {
    const full: Outcome = { kind: 'full', reason: fullest.text }
    const nothing: Outcome = { kind: 'stored', duplicates: 0 }
    unit.done(results.get(unit) ?? (unit.items.length > 0 ? full : nothing))
  }
  const outcomes = [...results.values()]
  if (outcomes.some(each => each.kind === 'stored')) parts.onStored()
  return outcomes.length === 0 ? undefined : outcomes.every(each => each.kind === 'failed')
}

/** Stores units with one commit; if that fails, each with its own, so that one cannot keep the others out. */
function stored(parts: Parts, units: readonly Unit[]): Map<Unit, Outcome> {
  const { state, clock, log } = parts
  const store = (group: readonly Unit[]): Map<Unit, Outcome> =>
    state.intake(() => new Map(group.map(unit => [unit, storedUnit(state, unit, clock.now())])))
  if (units.length === 0) return new Map()
  try {
    return store(units)
  } catch (error) {
    log.error('nothing stored: the disk or the database failed', { error: kindOf(error), count: units.length })
    if (units.length === 1) return new Map([[units[0]!, { kind: 'failed' }]])
    return new Map(units.flatMap(unit => [...stored(parts, [unit])]))
  }
}

function storedUnit(state: State, { items, also }: Unit, now: number): Outcome {
  let duplicates = 0
  for (const item of items) if (!addItem(state, item, now)) duplicates++
  also?.()
  return { kind: 'stored', duplicates }
}
