// Checks the whole audit trail: every chain from its beginning to its sealed head, and the chains with each other.
import type { KeyObject } from 'node:crypto'
import type { Queryable, Transactional } from '../db/statement.ts'
import type { SeenHead } from './anchored.ts'
import { type Archive, archivesOf } from './archive/archive.ts'
import { allChains, beginningOf, type ChainRow, type Head } from './chain.ts'
import { mayFollow, periodOf } from './period.ts'
import { wholeHashEvery } from './record.ts'
import { linked, rowsAfter } from './rows.ts'
import { type Break, beginWalk } from './walk.ts'

export interface ChainVerdict {
  readonly isWhole: boolean
  readonly chains: number
  /** Rows that were found good. */
  readonly rows: number
  /** The first broken row of every chain that has one. */
  readonly broken: readonly Break[]
  /** How far each chain goes. Kept elsewhere and shown to a later check, they prove that nothing was cut off since. */
  readonly heads: readonly Head[]
  /** Periods whose rows are in files, and were not looked at. */
  readonly archived: readonly ArchivedPeriod[]
}

/** A period whose rows are in a file, and its chains. */
export interface ArchivedPeriod {
  readonly archive: Archive
  readonly chains: readonly ChainRow[]
}

const page = 5000

/**
 * Looks at one state of the whole trail, as far as it is in the database, while others go on writing.
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
    // Before anything is seen: the rows of a period that is not archived then cannot leave.
    await on.query({ text: 'lock table audit_row, audit_source, audit_kind in access share mode', values: [] })
    const chains = await allChains(on)
    const broken: Break[] = chainBreaks(chains, known)
    const [archived, online] = parted(chains, await archivesOf(on))
    let [rows, unread, left] = [0, 0, most]
    for (const chain of online.toReversed()) {
      const after = Math.max(0, (chain.sequence ?? 0) - left)
      unread += after
      left -= (chain.sequence ?? 0) - after
      if (after > 0 && after === chain.sequence) continue
      const walked = await walk(on, chain, key, knownOf.get(chain.number) ?? [], after)
      rows += Math.max(0, walked.rows - after)
      if (walked.problem) broken.push(walked.problem)
    }
    broken.push(...(await strays(on, unread > 0 ? (chains.at(-1)?.number ?? 0) : undefined)))
    // Those of one chain were found in the order of its rows.
    broken.sort((a, b) => a.chain - b.chain)
    const heads = chains.map(each => ({ chain: each.number, sequence: each.sequence ?? 0, hash: each.head ?? '' }))
    return { isWhole: broken.length === 0, chains: chains.length, rows, broken, heads, archived, unread }
  })
}

/** Parts the chains whose rows are in files from those whose rows are in the database. */
function parted(chains: readonly ChainRow[], archives: readonly Archive[]): [ArchivedPeriod[], ChainRow[]] {
  const byPeriod = Map.groupBy(chains, chain => periodOf(chain.number))
  const archived = archives.map(archive => ({ archive, chains: byPeriod.get(archive.period) ?? [] }))
  const gone = new Set(archives.map(({ period }) => period))
  return [archived, chains.filter(chain => !gone.has(periodOf(chain.number)))]
}

/** Chains are numbered without gaps in their period, and each begins with the beginning of the one before. */
function chainBreaks(chains: readonly ChainRow[], known: readonly SeenHead[]): Break[] {
  const broken: Break[] = []
  let before: ChainRow | undefined
  for (const chain of chains) {
    const { number, started_at, previous, hash } = chain
    if (!mayFollow(number, before?.number ?? 0))
      broken.push({ chain: (before?.number ?? 0) + 1, problem: 'the chain is missing' })
    else if (previous !== (before?.hash ?? '') || hash !== beginningOf(number, started_at, previous))
      broken.push({ chain: number, problem: 'the start of the chain does not match its hash' })
    before = chain
  }
  const noticed = new Set([...chains.map(({ number }) => number), ...broken.map(({ chain }) => chain)])
  for (const { chain, sequence, by } of known) {
    if (!noticed.has(chain)) broken.push({ chain, problem: `the chain is missing: ${by} has its row ${sequence}` })
    noticed.add(chain)
  }
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
  const sequence = after - (after % wholeHashEvery)
  const hash = sequence === 0 ? chain.hash : await hashOf(on, chain.number, sequence)
  if (hash === undefined)
    return { rows: sequence, problem: { chain: chain.number, sequence, problem: 'the row is missing' } }
  const checked = beginWalk(chain, { chain: chain.number, sequence, hash }, key, known)
  for (let rows = await rowsAfter(on, chain.number, sequence, page); rows.length > 0; ) {
    if (!rows.every(row => checked.take(linked(row)))) break
    rows = await rowsAfter(on, chain.number, checked.good(), page)
  }
  return { problem: checked.end(), rows: checked.good() }
}

async function hashOf(on: Queryable, chain: number, sequence: number): Promise<string | undefined> {
  const rows = await on.query<{ hash: string }>({
    text: `select encode(hash, 'hex') as hash from audit_row where chain = $1 and sequence = $2`,
    values: [chain, sequence],
  })
  return rows[0]?.hash
}

/** Rows of chains that do not exist. @param last only those of chains with a number beyond it, which an index finds at once */
async function strays(on: Queryable, last?: number): Promise<Break[]> {
  const beyond = last === undefined ? '' : 'and (chain < 1 or chain > $1)'
  const rows = await on.query<{ chain: number; sequence: number }>({
    text: `select chain, min(sequence) as sequence from audit_row e
      where not exists (select from audit_chain c where c.number = e.chain) ${beyond} group by chain`,
    values: last === undefined ? [] : [last],
  })
  return rows.map(({ chain, sequence }) => ({ chain, sequence, problem: 'the row does not belong to a chain' }))
}
