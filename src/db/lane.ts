// A client's way to the database: its share of the connections, and an end of its statements when it has gone.
import type pg from 'pg'
import { createShares, type Shares } from '../lib/shares.ts'
import { ask, translated } from './ask.ts'
import type { Statement, Transactional } from './statement.ts'
import { inTransaction } from './transaction.ts'
import { type Asking, watchOver } from './watch.ts'

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
  const query = <Row extends object>(statement: Statement): Promise<Row[]> =>
    once<Row>(statement.isFixed ? fixed : planned, asking, statement)
  return {
    query,
    run: async statement => void (await once(fixed, asking, statement)),
    transaction: work =>
      held(fixed, asking, 1, async () =>
        inTransaction(fixed.pool, work, client => watchOver(client, { signal: asking.signal })),
      ),
  }
}

async function held<T>(
  { shares }: Shared,
  { who, signal }: Asking,
  amount: number,
  work: () => Promise<T>,
): Promise<T> {
  const share = await shares.take(who, amount, signal)
  try {
    return await work()
  } finally {
    share.release()
  }
}

/** One statement on a connection of the pool, to which the connection comes back only if nothing went wrong. */
function once<Row extends object>(shared: Shared, asking: Asking, statement: Statement): Promise<Row[]> {
  // Large answers come one at a time, so that a client fills neither the cores nor memory; small ones go on beside them.
  const amount = statement.isLarge ? Math.max(1, shared.share - 1) : 1
  return held(shared, asking, amount, async () => {
    const client = await shared.pool.connect().catch(error => {
      throw translated(error)
    })
    const watch = watchOver(client, asking)
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
  })
}
