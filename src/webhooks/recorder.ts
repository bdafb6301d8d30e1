// Records the outcomes of tasks, many at a time: attempts and the next ones, what returns to the queue, and the health
// of endpoints.
import type { Database } from '../db/database.ts'
import { type Batcher, createBatcher } from '../lib/batcher.ts'
import type { Log } from '../lib/log.ts'
import type { Ending, Outcome } from './attempt-task.ts'
import { createHealth, type GivenUp } from './health.ts'
import { drop, release, settle } from './queue.ts'

export interface RecorderParts {
  readonly database: Database
  readonly log: Log
  /** Called for each endpoint that is given up. */
  readonly givenUp: (endpoint: GivenUp) => Promise<void>
  /** Called after each batch that is recorded. */
  readonly recorded: () => void
  readonly isClosing: () => boolean
  readonly sleep: (milliseconds: number) => Promise<unknown>
  /** Seconds for which a task is this process's own. */
  readonly leaseSeconds: number
}

/** Milliseconds for which outcomes are collected to be recorded together. */
const together = 2
/** Milliseconds until outcomes that could not be recorded are tried again. */
const patience = 500

/** Creates the recorder of one process. */
export function createRecorder(parts: RecorderParts): Batcher<Outcome> {
  const { database, log, sleep } = parts
  const health = createHealth(database)

  async function flush(outcomes: readonly Outcome[]): Promise<void> {
    const results = outcomes.flatMap(each => (each.kind === 'ended' ? each.ending : []))
    const tasksOf = (kind: 'returned' | 'dropped') => outcomes.flatMap(each => (each.kind === kind ? each.task : []))
    const [returned, dropped] = [tasksOf('returned'), tasksOf('dropped')]
    try {
      if (returned.length > 0) await release(database, returned)
      if (dropped.length > 0) await drop(database, dropped)
      if (results.length > 0) await settle(database, results)
    } catch (error) {
      return keep(results, error)
    }
    await noteHealth(results)
    parts.recorded()
  }

  /**
   * Outcomes that cannot be recorded are recorded later, as long as the lease lasts; after that the delivery is tried
   * again.
   */
  async function keep(results: readonly Ending[], error: unknown): Promise<void> {
    log.warn({ err: error, attempts: results.length }, 'webhooks: could not record the outcome of attempts')
    const since = Date.now() - parts.leaseSeconds * 1000
    if (parts.isClosing()) return
    await sleep(patience)
    const held = results.filter(({ startedAt }) => startedAt.getTime() > since)
    batches.add(held.map(ending => ({ kind: 'ended', ending })))
  }

  async function noteHealth(results: readonly Ending[]): Promise<void> {
    try {
      for (const each of await health.note(results)) await parts.givenUp(each)
    } catch (error) {
      log.warn({ err: error }, 'webhooks: could not record the health of receivers')
    }
  }

  const batches = createBatcher<Outcome>({ pause: round => (round === 0 ? sleep(together) : undefined), flush })
  return batches
}
