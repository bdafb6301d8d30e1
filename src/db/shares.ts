// The connections of a pool as clients share them: the part that each may hold, and what the rest waits for.
import type pg from 'pg'
import type { Company } from '../lib/company.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { createRests, type Rests } from '../lib/rests.ts'
import type { Costs } from './costs.ts'
import type { Lines } from './lines.ts'

/** What all pools know together. */
export interface Known {
  /** What statements took. */
  readonly costs: Costs
  /** Which clients are there. */
  readonly company: Company
}

/** Connections, and the part of them that each client may hold. */
export interface Shared extends Known {
  readonly pool: pg.Pool
  /** For short statements. */
  readonly lines: Lines
  readonly shares: ConcurrencyLimit
  /** Limits what transactions take in addition to a connection: each client has the same amount, independent of the others. */
  readonly transactions: ConcurrencyLimit
  /** What a transaction takes of them if those of its client take long. */
  readonly longTransaction: number
  /** Limits look-ups and changes, which share statements. */
  readonly shared: ConcurrencyLimit
  /** Limits costly statements by client. */
  readonly turns: ConcurrencyLimit
  /** Rests after large answers. */
  readonly rests: Rests
}

/**
 * Connections beyond those that clients share: the service's own work (tokens, audit trail, deliveries, indexing) continues under
 * any load.
 */
export const serviceRoom = 2

const queues = { waitingPerClient: 500, waiting: 5000 }

/** Look-ups and changes that are under way or form the next statement; the rest waits in turn. */
const mostShared = 128

/** Most connections of one client: what is not costly ends soon, so that a quarter is room enough for others. */
export const shareOf = (total: number): number => Math.max(1, Math.floor((total * 3) / 4))

/**
 * Returns a pool that clients share.
 * @param total connections that clients share
 */
export function createShared(pool: pg.Pool, lines: Lines, total: number, { costs, company }: Known): Shared {
  const perClient = shareOf(total)
  // So that a client has as many long transactions as a quarter of the connections.
  const longTransaction = Math.floor(perClient / Math.ceil(total / 4))
  const connections = { ...queues, patience: 10_000, perClient }
  return {
    pool,
    lines,
    shares: createConcurrencyLimit({ ...connections, name: 'database connections', total }),
    transactions: createConcurrencyLimit({
      ...connections,
      name: 'database connections for transactions',
      total: total * longTransaction,
    }),
    longTransaction,
    shared: createConcurrencyLimit({
      ...connections,
      name: 'look-ups and changes',
      total: mostShared,
      perClient: shareOf(mostShared),
    }),
    // Those of one client wait for each other for longer than others wait for them.
    turns: createConcurrencyLimit({
      ...queues,
      name: 'turns for costly statements',
      total,
      perClient: 1,
      patience: 30_000,
    }),
    rests: createRests(),
    costs,
    company,
  }
}

/** Statements and transactions that wait for anything. */
export const waitingIn = ({ pool, shares, transactions, turns }: Shared): number =>
  pool.waitingCount + shares.waiting() + transactions.waiting() + turns.waiting()
