// Single changes of requests that arrive at the same moment share a transaction: its statements cost little more for thirty rows than
// for one, and it is committed once.
import { setTimeout as sleep } from 'node:timers/promises'
import { createGathering } from '../db/gather.ts'
import type { Transactional } from '../db/statement.ts'
import { isOutage } from '../lib/failure.ts'
import { type Batch, isOneStatement, merged, namesIn, put, sizeOf } from './batch.ts'
import type { Projection } from './projection.ts'

/**
 * Writes a batch of what was looked up without locks, maybe together with others; it is as atomic as alone, and fails only for
 * reasons of its own.
 * @param own the writer's share of the database, which a batch uses that is written alone
 * @throws what `put` throws
 */
export type Together = (own: Transactional, batch: Batch) => Promise<void>

interface Waiting {
  readonly own: Transactional
  readonly batch: Batch
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/** Most batches of one transaction, and most characters of their resources. */
const most = { batches: 32, size: 200_000 }

/** Characters of resources from which on a batch is written alone, since others would wait for it. */
const large = 50_000

/** Milliseconds that the batches of a transaction wait for a row that another one changes; then each waits alone. */
const patience = 50

/** @param database the service's own, for transactions of several writers */
export function createTogether(database: Transactional, projections: readonly Projection[]): Together {
  // Those that come later do not wait for one that waits for a lock.
  const work = (waiting: readonly Waiting[]): Promise<void> =>
    Promise.race([writeAll(database, waiting, projections), sleep(patience, undefined, { ref: false })])
  const gather = createGathering<Waiting>({ take, work })
  return (own, batch) => {
    if (sizeOf(batch) > large) return alone(own, batch, projections)
    // What projections follow takes longer, and they may refuse it: the others do not wait for it.
    const key = `${batch.epoch} ${batch.projected.length > 0}`
    const written = (): Promise<void> => new Promise((done, fail) => gather(key, { own, batch, done, fail }))
    return own.sharing ? own.sharing(written) : written()
  }
}

/** Takes the first ones that change different resources. */
function take(waiting: Waiting[]): Waiting[] {
  const names = new Set<string>()
  const taken: Waiting[] = []
  let size = 0
  for (const each of waiting) {
    if (taken.length >= most.batches || size > most.size) break
    const own = namesIn(each.batch)
    if (own.some(name => names.has(name))) continue
    for (const name of own) names.add(name)
    size += sizeOf(each.batch)
    taken.push(each)
  }
  const isTaken = new Set(taken)
  waiting.splice(0, waiting.length, ...waiting.filter(each => !isTaken.has(each)))
  return taken
}

/** Writes them together; if that fails, each alone, so that only the one that is the reason fails. */
async function writeAll(
  database: Transactional,
  waiting: readonly Waiting[],
  projections: readonly Projection[],
): Promise<void> {
  const [first, ...others] = waiting
  try {
    if (others.length > 0) {
      await database.transaction(async on => {
        await on.run({ text: `set local lock_timeout = ${patience}`, values: [] })
        await put(on, merged(waiting.map(each => each.batch)), projections)
      })
      for (const { done } of waiting) done()
      return
    }
  } catch (error) {
    // Nobody knows whether it was committed: to write it again is for the client to decide.
    if (isOutage(error)) {
      for (const { fail } of waiting) fail(error)
      return
    }
  }
  const writing = [first!, ...others].map(({ own, batch, done, fail }) =>
    alone(own, batch, projections).then(done, fail),
  )
  await Promise.all(writing)
}

/** Writes a batch by itself. */
const alone = (own: Transactional, batch: Batch, projections: readonly Projection[]): Promise<void> =>
  isOneStatement(batch) ? put(own, batch, projections) : own.transaction(on => put(on, batch, projections))
