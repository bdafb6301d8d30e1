// Writes the audit trail in groups: what arrives while a group is being committed makes up the next one, so that many requests share
// one statement and one commit, and each waits for its own.
import { int2Array, int4Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import type { Statement } from '../db/statement.ts'
import type { Log } from '../lib/log.ts'
import { beginChain, type Head, sealOf } from './chain.ts'
import { type AuditRecord, type ChainedRecord, rowHash, storable } from './record.ts'

export interface AuditWriter {
  /** Resolves when the records are committed. @throws whatever kept them from it. */
  write(records: readonly AuditRecord[]): Promise<void>
  /** Writes what is left of changes whose records failed. */
  close(): Promise<void>
}

export interface WriterOptions {
  readonly database: Database
  /** Seals heads of chains. */
  readonly key: Buffer
  readonly log: Log
  readonly now: () => Date
}

interface Waiting {
  readonly records: readonly AuditRecord[]
  readonly done: () => void
  readonly fail: (error: unknown) => void
}

/** Rows of one statement, unless a single request brings more. */
const mostRows = 2000
/** Records of changes that are kept for later when they cannot be written. */
const mostKept = 100_000

/** The writer of one process. Its chain begins with the first record. */
export function createAuditWriter({ database, key, log, now }: WriterOptions): AuditWriter {
  let head: Head | undefined
  let queue: Waiting[] = []
  let kept: AuditRecord[] = []
  let working: Promise<void> | undefined

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    const records = [...kept, ...group.flatMap(each => each.records)]
    try {
      head ??= await beginChain(database, key, now())
      const { statement, next } = insertion(head, records, key)
      const [moved] = await database.query<{ chain: number }>(statement)
      if (!moved) throw new Error(`the head of audit chain ${head.chain} is not where this process left it`)
      head = next
      kept = []
      for (const { done } of group) done()
    } catch (error) {
      // Whether the group was committed may be unknown; either way its chain is whole, and the next group begins another.
      head = undefined
      kept = records.filter(isChange).slice(-mostKept)
      log.error({ err: error, kept: kept.length }, 'audit: a group of records could not be written')
      for (const { fail } of group) fail(error)
    }
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      await new Promise(setImmediate)
      await writeGroup(takeGroup())
    }
    // At once, while nobody can add to the queue: whoever comes next starts the work anew.
    working = undefined
  }

  function takeGroup(): Waiting[] {
    let rows = 0
    const end = queue.findIndex(each => (rows += each.records.length) > mostRows)
    const group = end < 0 ? queue : queue.slice(0, Math.max(end, 1))
    queue = queue.slice(group.length)
    return group
  }

  return {
    write(records) {
      return new Promise((done, fail) => {
        queue.push({ records, done, fail })
        working ??= work()
      })
    },
    async close() {
      await working
      if (kept.length > 0) await writeGroup([])
    },
  }
}

/** What has happened must be told, also if whoever did it was answered that it could not be. */
const isChange = ({ action, outcome }: AuditRecord): boolean =>
  outcome === 0 && (action === 'C' || action === 'U' || action === 'D')

function insertion(head: Head, records: readonly AuditRecord[], key: Buffer): { statement: Statement; next: Head } {
  const rows = records.map(
    (record, index): ChainedRecord => ({
      ...record,
      query: storable(record.query),
      id: storable(record.id),
      chain: head.chain,
      sequence: head.sequence + index + 1,
    }),
  )
  const hashes: string[] = []
  for (const row of rows) hashes.push(rowHash(hashes.at(-1) ?? head.hash, row))
  const next: Head = {
    chain: head.chain,
    sequence: rows.at(-1)?.sequence ?? head.sequence,
    hash: hashes.at(-1) ?? head.hash,
  }
  const texts = (pick: (row: ChainedRecord) => string) => textArray(rows.map(pick))
  const values = [
    head.chain,
    safeInt8Array(rows.map(row => row.sequence)),
    safeInt8Array(rows.map(row => row.recordedAt.getTime())),
    texts(row => row.action),
    texts(row => row.interaction),
    int2Array(rows.map(row => row.outcome)),
    texts(row => row.problem),
    texts(row => row.clientId),
    texts(row => row.organizationId),
    texts(row => row.tokenId),
    texts(row => row.address),
    texts(row => row.requestId),
    texts(row => row.type),
    texts(row => row.id),
    int4Array(rows.map(row => row.version)),
    texts(row => row.query),
    texts(row => row.patients.join(' ')),
    int4Array(rows.map(row => row.resources)),
    texts(row => row.purpose),
    textArray([head.hash, ...hashes].slice(0, rows.length)),
    textArray(hashes),
    next.sequence,
    next.hash,
    sealOf(key, next),
    head.sequence,
  ]
  return { statement: { text, values, name: 'audit-group', isFixed: true }, next }
}

const text = `
  with row as (
    insert into audit_event
    select $1::integer, sequence, to_timestamp(at / 1000.0), action::"char", interaction, outcome, problem, client, organization, token,
      address, request, type, id, version, query, string_to_array(patients, ' '), resources, purpose,
      decode(previous, 'hex'), decode(hash, 'hex')
    from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::text[], $9::text[], $10::text[],
      $11::text[], $12::text[], $13::text[], $14::text[], $15::integer[], $16::text[], $17::text[], $18::integer[], $19::text[],
      $20::text[], $21::text[])
      as t (sequence, at, action, interaction, outcome, problem, client, organization, token, address, request, type, id, version,
        query, patients, resources, purpose, previous, hash)
  )
  update audit_head set sequence = $22::bigint, hash = decode($23::text, 'hex'), seal = decode($24::text, 'hex')
  where chain = $1 and sequence = $25::bigint
  returning chain`
