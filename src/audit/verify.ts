// Checks the whole audit trail: every chain from its beginning to its sealed head, and the chains with each other.
import type { KeyObject } from 'node:crypto'
import type { Queryable, Transactional } from '../db/statement.ts'
import type { SeenHead } from './anchored.ts'
import { beginningOf, type Head, sealOf } from './chain.ts'
import { rowHash, storedHash, wholeHashEvery } from './record.ts'
import { fromPacked, isFindable, type PackedRow, packedColumns } from './rows.ts'

/** What is wrong with the trail, at its first broken place in the order of chains and rows. */
export interface Break {
  readonly chain: number
  /** Absent where the chain itself is broken, not a row. */
  readonly sequence?: number
  /** In words. */
  readonly problem: string
}

export interface ChainVerdict {
  readonly isWhole: boolean
  readonly chains: number
  /** Rows that were found good. */
  readonly rows: number
  /** The first broken row of every chain that has one. */
  readonly broken: readonly Break[]
  /** How far each chain goes. Kept elsewhere and shown to a later check, they prove that nothing was cut off since. */
  readonly heads: readonly Head[]
}

interface ChainRow {
  readonly number: number
  readonly started_at: Date
  readonly previous: string
  readonly hash: string
  readonly sequence: number | null
  readonly head: string | null
  readonly seal: string | null
}

const page = 5000

/**
 * Looks at one state of the whole trail, while others go on writing.
 * @param known heads that were seen before, which must still be in the trail.
 */
export async function verifyTrail(
  database: Pick<Transactional, 'transaction'>,
  key: KeyObject,
  known: readonly SeenHead[],
): Promise<ChainVerdict> {
  const { unread: _, ...verdict } = await verified(database, key, known, Number.POSITIVE_INFINITY)
  return verdict
}

/** A verdict about the newest part of the trail. */
export interface NewestVerdict extends ChainVerdict {
  /** Rows that were not looked at, since there are too many: what follows them was found to follow from them. */
  readonly unread: number
}

/**
 * The same for the newest rows, at most so many, of the chains that began last. The beginnings of all chains are compared with
 * each other; of rows that are not read, nothing is known.
 */
export const verifyNewest = (
  database: Pick<Transactional, 'transaction'>,
  key: KeyObject,
  known: readonly SeenHead[],
  most: number,
): Promise<NewestVerdict> => verified(database, key, known, most)

function verified(
  database: Pick<Transactional, 'transaction'>,
  key: KeyObject,
  known: readonly SeenHead[],
  most: number,
): Promise<NewestVerdict> {
  const knownOf = Map.groupBy(known, head => head.chain)
  return database.transaction(async on => {
    await on.query({ text: 'set transaction isolation level repeatable read, read only', values: [] })
    const chains = await on.query<ChainRow>({ text: chainsText, values: [] })
    const broken: Break[] = chainBreaks(chains, knownOf)
    let [rows, unread, left] = [0, 0, most]
    for (const chain of chains.toReversed()) {
      const after = Math.max(0, (chain.sequence ?? 0) - left)
      unread += after
      left -= (chain.sequence ?? 0) - after
      if (after > 0 && after === chain.sequence) continue
      const walked = await walk(on, chain, key, knownOf.get(chain.number) ?? [], after)
      rows += Math.max(0, walked.rows - after)
      if (walked.problem) broken.push(walked.problem)
    }
    broken.push(...(await strays(on, unread > 0 ? chains.length : undefined)))
    // Those of one chain were found in the order of its rows.
    broken.sort((a, b) => a.chain - b.chain)
    const heads = chains.map(each => ({ chain: each.number, sequence: each.sequence ?? 0, hash: each.head ?? '' }))
    return { isWhole: broken.length === 0, chains: chains.length, rows, broken, heads, unread }
  })
}

const chainsText = `
  select number, started_at, encode(c.previous, 'hex') as previous, encode(c.hash, 'hex') as hash, h.sequence,
    encode(h.hash, 'hex') as head, encode(h.seal, 'hex') as seal
  from audit_chain c left join audit_head h on h.chain = c.number order by number`

/** Chains are numbered without gaps, and each begins with the beginning of the one before. */
function chainBreaks(chains: readonly ChainRow[], knownOf: ReadonlyMap<number, readonly SeenHead[]>): Break[] {
  const broken: Break[] = []
  let before: ChainRow | undefined
  for (const chain of chains) {
    const { number, started_at, previous, hash } = chain
    if (number !== (before?.number ?? 0) + 1)
      broken.push({ chain: (before?.number ?? 0) + 1, problem: 'the chain is missing' })
    else if (previous !== (before?.hash ?? '') || hash !== beginningOf(number, started_at, previous))
      broken.push({ chain: number, problem: 'the start of the chain does not match its hash' })
    before = chain
  }
  const last = before?.number ?? 0
  for (const [chain, [seen]] of knownOf)
    if (chain > last) broken.push({ chain, problem: `the chain is missing: ${seen!.by} has its row ${seen!.sequence}` })
  return broken
}

interface Walked {
  /** The last row that was found good. */
  readonly rows: number
  readonly problem: Break | undefined
}

/**
 * @param after the row after which rows are checked; 0: all of them are. The rows between it and the last one before it that holds its
 * whole hash are checked too, since theirs follow from that.
 */
async function walk(
  on: Queryable,
  chain: ChainRow,
  key: KeyObject,
  known: readonly SeenHead[],
  after: number,
): Promise<Walked> {
  const expected = new Map(known.map(each => [each.sequence, each]))
  let sequence = after - (after % wholeHashEvery)
  let last = sequence === 0 ? chain.hash : await hashOf(on, chain.number, sequence)
  const stop = (at: number | undefined, problem: string): Walked => ({
    rows: sequence,
    problem: { chain: chain.number, sequence: at, problem },
  })
  if (last === undefined) return stop(sequence, 'the row is missing')
  for (let rows = await rowsAfter(on, chain.number, sequence); rows.length > 0; ) {
    for (const row of rows) {
      if (row.sequence !== sequence + 1) return stop(sequence + 1, 'the row is missing')
      const record = fromPacked(row)
      const hash = rowHash(last, record)
      if (!row.hash.equals(storedHash(row.sequence, hash)) || !isFindable(row, record))
        return stop(row.sequence, 'the row does not match its hash')
      const seen = expected.get(row.sequence)
      if (seen && seen.hash !== hash) return stop(row.sequence, `the row differs from the row in ${seen.by}`)
      sequence = row.sequence
      last = hash
    }
    rows = await rowsAfter(on, chain.number, sequence)
  }
  return atEnd(chain, { chain: chain.number, sequence, hash: last }, key, known, stop)
}

/** Compares where a chain ends with where its head says that it does. */
function atEnd(
  { sequence, head, seal }: ChainRow,
  end: Head,
  key: KeyObject,
  known: readonly SeenHead[],
  stop: (at: number | undefined, problem: string) => Walked,
): Walked {
  if (sequence === null) return stop(undefined, 'the head of the chain is missing')
  if (sequence > end.sequence)
    return stop(end.sequence + 1, `the row is missing, and all after it: the head of the chain is at ${sequence}`)
  if (sequence < end.sequence) return stop(sequence + 1, 'the row is after the head of the chain')
  if (head !== end.hash) return stop(end.sequence, 'the row differs from the row in the head of the chain')
  if (seal !== sealOf(key, end))
    return stop(undefined, 'the head of the chain was not sealed with the key of this deployment')
  const beyond = known.find(each => each.sequence > end.sequence)
  if (beyond)
    return stop(end.sequence + 1, `the row is missing: ${beyond.by} has the chain up to row ${beyond.sequence}`)
  return { rows: end.sequence, problem: undefined }
}

/** With what it holds of its hash. */
type LinkedRow = PackedRow & { readonly hash: Buffer }

const rowsAfter = (on: Queryable, chain: number, sequence: number): Promise<LinkedRow[]> =>
  on.query<LinkedRow>({
    text: `select ${packedColumns}, hash from audit_event
      where chain = $1 and sequence > $2 order by sequence limit ${page}`,
    values: [chain, sequence],
  })

async function hashOf(on: Queryable, chain: number, sequence: number): Promise<string | undefined> {
  const rows = await on.query<{ hash: string }>({
    text: `select encode(hash, 'hex') as hash from audit_row where chain = $1 and sequence = $2`,
    values: [chain, sequence],
  })
  return rows[0]?.hash
}

/** Rows of chains that do not exist. @param chains only those with a number beyond these, which an index finds at once */
async function strays(on: Queryable, chains?: number): Promise<Break[]> {
  const beyond = chains === undefined ? '' : 'and (chain < 1 or chain > $1)'
  const rows = await on.query<{ chain: number; sequence: number }>({
    text: `select chain, min(sequence) as sequence from audit_row e
      where not exists (select from audit_chain c where c.number = e.chain) ${beyond} group by chain`,
    values: chains === undefined ? [] : [chains],
  })
  return rows.map(({ chain, sequence }) => ({ chain, sequence, problem: 'the row does not belong to a chain' }))
}
