// The statement that adds a group of records to a chain, moves its head, and removes what was pending of the changes among them.
import type { KeyObject } from 'node:crypto'
import { int2Array, int4Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Statement } from '../db/statement.ts'
import { type Head, sealOf } from './chain.ts'
import { type AuditRecord, type ChainedRecord, rowHash, storable } from './record.ts'

export interface GroupCommit {
  readonly records: readonly AuditRecord[]
  /** Ids of what is pending. */
  readonly pending: readonly string[]
}

/** Returns the statement, and the head of the chain after it: all of it happens, or nothing. */
export function insertion(
  head: Head,
  { records, pending }: GroupCommit,
  key: KeyObject,
): { statement: Statement; next: Head } {
  const rows = records.map(
    (record, index): ChainedRecord => ({
      ...record,
      query: storable(record.query),
      id: storable(record.id),
      chain: head.chain,
      sequence: head.sequence + index + 1,
    }),
  )
  const hashes = [head.hash]
  for (const row of rows) hashes.push(rowHash(hashes.at(-1)!, row))
  const next: Head = { chain: head.chain, sequence: head.sequence + rows.length, hash: hashes.at(-1)! }
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
    textArray(hashes.slice(0, -1)),
    textArray(hashes.slice(1)),
    next.sequence,
    next.hash,
    sealOf(key, next),
    head.sequence,
    textArray(pending),
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
  ), head as (
    update audit_head set sequence = $22::bigint, hash = decode($23::text, 'hex'), seal = decode($24::text, 'hex')
    where chain = $1 and sequence = $25::bigint
    returning chain
  )
  select audit_settle((select count(*) from head), $26::text[]::uuid[])`

/**
 * Returns true if the error states that another process has recorded a pending change: nothing of the group is written
 * then.
 */
export const isRecordedAlready = (error: unknown): boolean => (error as { code?: unknown }).code === 'HI003'
