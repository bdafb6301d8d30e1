// The beginnings and heads of audit chains: what binds chains to each other, and what reveals that an end is missing.
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { chainsIn, inTurn, mostPeriodRows, nextChain } from './period.ts'

/** The last row of a chain, or its beginning. */
export interface Head {
  readonly chain: number
  readonly sequence: number
  /** In hex. */
  readonly hash: string
}

/** The beginning of a chain and its head, as the database holds them; all hashes in hex. */
export interface ChainRow {
  readonly number: number
  readonly started_at: Date
  readonly previous: string
  readonly hash: string
  /** Null, with `head` and `seal`: the head is missing. */
  readonly sequence: number | null
  readonly head: string | null
  readonly seal: string | null
}

/** The key of seals, made of the deployment's key, which is not in the database. As a KeyObject it is prepared once, not for each seal. */
export const sealingKey = (encryptionKey: Buffer): KeyObject =>
  createSecretKey(createHmac('sha256', encryptionKey).update('audit heads').digest())

/** Proves that a head was written by this deployment. */
export const sealOf = (key: KeyObject, { chain, sequence, hash: value }: Head): string =>
  createHmac('sha256', key).update(`${chain} ${sequence} ${value}`).digest('hex')

/** The beginning of a chain, in hex: what its first row follows. */
export const beginningOf = (number: number, startedAt: Date, previous: string): string =>
  hash('sha256', `${previous}\n${number} ${startedAt.getTime()}`, 'hex')

/**
 * Begins the next chain, and with it the next period if one is due. Numbers have no gaps within a period, so a chain that is missing is
 * noticed.
 */
export function beginChain(database: Database, key: KeyObject, now: Date, periodRows = mostPeriodRows): Promise<Head> {
  return inTurn(database, async on => {
    const last = await lastChain(on)
    const chain = await nextChain(on, last?.number ?? 0, periodRows)
    const previous = last?.hash ?? ''
    const head: Head = { chain, sequence: 0, hash: beginningOf(chain, now, previous) }
    await on.run({
      text: `insert into audit_chain (number, started_at, previous, hash) values ($1, $2, decode($3, 'hex'), decode($4, 'hex'))`,
      values: [chain, now, previous, head.hash],
    })
    await on.run({
      text: `insert into audit_head (chain, sequence, hash, seal) values ($1, 0, decode($2, 'hex'), decode($3, 'hex'))`,
      values: [chain, head.hash, sealOf(key, head)],
    })
    return head
  })
}

/**
 * Returns true if the chain ends with this head. It locks the head, which is written to the log: when that is committed, so is all
 * before it, and the standbys that commits wait for have it, too.
 */
export async function isCommitted(on: Queryable, { chain, sequence, hash: value }: Head): Promise<boolean> {
  const rows = await on.query({
    text: `select chain from audit_head where chain = $1 and sequence = $2 and hash = decode($3, 'hex') for update`,
    values: [chain, sequence, value],
  })
  return rows.length > 0
}

async function lastChain(on: Queryable): Promise<{ number: number; hash: string } | undefined> {
  const rows = await on.query<{ number: number; hash: string }>({
    text: `select number, encode(hash, 'hex') as hash from audit_chain order by number desc limit 1`,
    values: [],
  })
  return rows[0]
}

const chainRows = `
  select number, started_at, encode(c.previous, 'hex') as previous, encode(c.hash, 'hex') as hash, h.sequence,
    encode(h.hash, 'hex') as head, encode(h.seal, 'hex') as seal
  from audit_chain c left join audit_head h on h.chain = c.number`

/** Returns all chains in order. */
export const allChains = (on: Queryable): Promise<ChainRow[]> =>
  on.query<ChainRow>({ text: `${chainRows} order by number`, values: [] })

/** Returns the chains of a period in order. */
export const chainsOfPeriod = (on: Queryable, period: number): Promise<ChainRow[]> =>
  on.query<ChainRow>({
    text: `${chainRows} where number between $1 and $2 order by number`,
    values: [...chainsIn(period)],
  })
