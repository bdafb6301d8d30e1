// A client's way to the database: its share of the connections, and an end of its statements when it has gone.
import type pg from 'pg'
import { createShares, type Share, type Shares } from '../lib/shares.ts'
import { ask, translated } from './ask.ts'
import type { Statement, Transactional } from './statement.ts'
import { inTransaction } from './transaction.ts'
import { type Asking, createWatcher, type Watcher } from './watch.ts'

/** Connections, and the part of them that each client may hold. */
export interface Shared {
  readonly pool: pg.Pool
  /** Most connections of one client. */
  readonly share: number
  readonly shares: Shares
}

/**
 * Connections beyond those that clients share: what the service does itself (tokens, audit trail, deliveries, indexing)
 * goes on, whatever clients do.
 */
export const serviceRoom = 2

/** Most connections of one client: with a quarter each, it takes several clients to use up what there is. */
export const shareOf = (size: number): number => Math.ceil(size / 4)

const waitingPerClient = 500
const waiting = 5000
const patience = 10_000

/** The shares of clients in a pool of this size. */
export const connectionShares = (size: number): Shares =>
  createShares({
    ...{ name: 'database connections', total: size, perClient: shareOf(size), waitingPerClient, waiting, patience },
  })

/**
 * The database as one client has it.
 * @param planned connections for statements that are planned for their values, `fixed` for all others and for transactions
 */
export function laneFor(planned: Shared, fixed: Shared, asking: Asking): Transactional {
  const watcher = createWatcher(asking.signal)
  const query = <Row extends object>(statement: Statement): Promise<Row[]> =>
    once<Row>(statement.isFixed ? fixed : planned, asking, watcher, statement)
  return {
    query,
    run: async statement => void (await once(fixed, asking, watcher, statement)),
    async transaction(work) {
      const share = await taken(fixed, asking, 1)
      try {
        return await inTransaction(fixed.pool, work, client => watcher.over(client))
      } finally {
        share.release()
      }
    },
  }
}

/** The part of the connections that the client needs now. @throws Failure as shares do; the reason of the signal. */
function taken({ shares }: Shared, { who, signal }: Asking, amount: number): Share | Promise<Share> {
  signal.throwIfAborted()
  return shares.takeNow(who, amount) ?? shares.take(who, amount, signal)
}

/** Large answers of a client come one at a time, so that it fills neither the cores nor memory; small ones go on beside them. */
const amountOf = ({ share }: Shared, { isLarge }: Statement): number => (isLarge ? Math.max(1, share - 1) : 1)

/** One statement on a connection of the pool, to which the connection comes back only if nothing went wrong. */
async function once<Row extends object>(
  shared: Shared,
  asking: Asking,
  watcher: Watcher,
  statement: Statement,
): Promise<Row[]> {
  const share = await taken(shared, asking, amountOf(shared, statement))
  try {
    const client = await shared.pool.connect()
    const watch = watcher.over(client, asking.limit)
    let failed: unknown
    try {
      return await ask<Row>(client, statement)
    } catch (error) {
      failed = error
      throw watch.reason() ?? error
    } finally {
      watch.finish()
      client.release(watch.reason() !== undefined || failed !== undefined)
    }
  } catch (error) {
    throw translated(error)
  } finally {
    share.release()
  }
}
