// Reads on standbys: a read sees there all that the service had acknowledged when it began, or it runs on the primary. No client
// carries a token: the primary is asked for its place in the log, by one statement for all reads of a moment, and a standby that has
// replayed the log up to there has every change, consent and revocation that any client knows of
// (docs/decisions/0091-reads-on-standbys.md).
import { createGathering } from '../gather.ts'
import type { Queryable } from '../statement.ts'
import { movable } from './movable.ts'
import { acknowledged, type Identity, identity, type Position, probing } from './position.ts'
import type { Place, Standby } from './standby.ts'
import { isBehind, type Watched, type WatchOptions, watchStandby } from './watched.ts'

/** Reads since the start, by where they began and how they ended. */
export interface StandbyReads {
  readonly standby: string
  /** True while reads go there. */
  readonly isUsed: boolean
  /** Reads that began there. */
  readonly reads: number
  /** Those of them that went on on the primary, since the standby failed. */
  readonly moved: number
  /** Reads that ran on the primary because the standby did not catch up in time. */
  readonly late: number
}

export interface Standbys {
  /**
   * Returns where the statements of one read run.
   * @param on the primary, as the reader has it
   * @param at the standby, as the reader has it
   * @throws Failure UNAVAILABLE if the primary does not answer.
   */
  reading(on: Queryable, at: (standby: Standby) => Queryable): Promise<Queryable>
  reads(): readonly StandbyReads[]
  end(): Promise<void>
}

export interface StandbysParts extends WatchOptions {
  /** Asks the primary. */
  readonly ask: Queryable['query']
}

/** Begins to watch the standbys. */
export function createStandbys(places: readonly Place[], { ask, ...options }: StandbysParts): Standbys {
  const primary = {
    identity: async () => (await ask<Identity>(identity))[0]!,
    probe: async () => (await ask<{ probe: string }>(probing))[0]!.probe,
    acknowledged: createAcknowledged(ask),
  }
  const all: Chosen[] = places.map(place => ({
    ...{ watched: watchStandby(place, options, primary), underWay: 0 },
    ...{ reads: 0, moved: 0, late: 0 },
  }))
  return {
    async reading(on, at) {
      if (!leastBusy(all)) return on
      const position = await primary.acknowledged()
      const chosen = leastBusy(all)
      const standby = chosen?.watched.used()
      if (!chosen || !standby) return on
      if (!(await counting(chosen, () => standby.reaches(position)))) {
        chosen.late++
        chosen.watched.leaveOut(standby, isBehind)
        return on
      }
      chosen.reads++
      const there = at(standby)
      const counted: Queryable = { ...there, query: statement => counting(chosen, () => there.query(statement)) }
      return movable(counted, on, cause => {
        chosen.moved++
        if (cause === 'server') chosen.watched.leaveOut(standby, 'a statement failed there')
      })
    },
    reads: () =>
      all.map(({ watched, reads, moved, late }) => ({
        ...{ standby: watched.name, isUsed: watched.used() !== undefined, reads, moved, late },
      })),
    end: async () => void (await Promise.all(all.map(({ watched }) => watched.end()))),
  }
}

/** A standby, what runs there, and what has run. */
interface Chosen {
  readonly watched: Watched
  underWay: number
  reads: number
  moved: number
  late: number
}

/** The standby with the least under way, and of several the one with the fewest reads so far; undefined: none is used. */
function leastBusy(all: readonly Chosen[]): Chosen | undefined {
  const [first] = all
    .filter(({ watched }) => watched.used())
    .sort((a, b) => a.underWay - b.underWay || a.reads - b.reads)
  return first
}

async function counting<T>(chosen: Chosen, work: () => Promise<T>): Promise<T> {
  chosen.underWay++
  try {
    return await work()
  } finally {
    chosen.underWay--
  }
}

/** Most reads that one question answers. */
const mostTogether = 1000

interface Asking {
  readonly done: (position: Position) => void
  readonly fail: (error: unknown) => void
}

/** Asks the primary for its position: those who ask while a question is under way share the next one, which begins after they came. */
function createAcknowledged(ask: Queryable['query']): () => Promise<Position> {
  const gather = createGathering<Asking>({
    take: waiting => waiting.splice(0, mostTogether),
    async work(batch) {
      try {
        const [position] = await ask<Position>(acknowledged)
        for (const { done } of batch) done(position!)
      } catch (error) {
        for (const { fail } of batch) fail(error)
      }
    },
  })
  return () => new Promise((done, fail) => gather('', { done, fail }))
}
