// Records changes that are left over: their request died with its process, or the trail could not be written.
import type { Queryable } from '../db/statement.ts'
import type { Log } from '../lib/log.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { claim, mostClaimed, type Pending, type Unrecorded } from './pending.ts'

export interface LeftOver {
  /** Takes over changes whose request is over and whose records could not be written. */
  owe(pending: readonly Pending[]): void
  /** Records what is owed, now that the trail can be written. */
  settle(): void
  /** Records what any process has left over, now and every few seconds. */
  start(): void
  close(): Promise<void>
}

export interface LeftOverParts {
  readonly database: Queryable
  readonly log: Log
  readonly record: (unrecorded: Unrecorded) => Promise<void>
}

/** Changes that are remembered until they can be recorded; those beyond this number wait to be found. */
const mostOwed = 10_000
/** Milliseconds between two looks. */
const lookEvery = 10_000

export function createLeftOver({ database, log, record }: LeftOverParts): LeftOver {
  let owed: readonly string[] = []
  let timer: NodeJS.Timeout | undefined

  async function recordAll(): Promise<void> {
    for (let found = mostClaimed; found === mostClaimed; ) {
      const asked = new Set(owed)
      const claimed = await claim(database, owed)
      found = claimed.length
      // Requested changes that no longer exist have been recorded.
      const settled = found < mostClaimed ? asked : new Set(claimed.map(each => each.id))
      owed = owed.filter(id => !settled.has(id))
      await Promise.all(claimed.map(record))
      if (found > 0) log.info({ changes: found }, 'audit: recorded pending changes')
    }
  }

  const looks = singleFlight(() =>
    recordAll().catch(err => log.warn({ err }, 'audit: could not record pending changes')),
  )

  return {
    owe: pending => void (owed = [...owed, ...pending.map(each => each.id)].slice(-mostOwed)),
    settle: () => void (owed.length > 0 && looks.run()),
    start() {
      void looks.run()
      timer = setInterval(looks.run, lookEvery).unref()
    },
    async close() {
      clearInterval(timer)
      await looks.ended()
      if (owed.length > 0) await looks.run()
    },
  }
}
