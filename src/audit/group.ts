// The statement that adds a group of records to a chain, moves its head, and removes what was pending of the changes among them.
import type { KeyObject } from 'node:crypto'
import { byteaArray, int2Array, int4Array, textArray } from '../db/arrays.ts'
import type { Statement } from '../db/statement.ts'
import { type Head, sealOf } from './chain.ts'
import { type FreshNames, hasNames, type Names, namesText, namesValues, naming, newNames } from './names.ts'
import { packId, packIds, packQuery, placeInTime } from './packed.ts'
import { type AuditRecord, type ChainedRecord, rowHash, storable, storedHash } from './record.ts'

export interface GroupCommit {
  readonly records: readonly AuditRecord[]
  /** Ids of what is pending. */
  readonly pending: readonly string[]
}

export interface Insertion {
  readonly statement: Statement
  /** The head of the chain after it. */
  readonly next: Head
  /** What the chain has named with it. */
  readonly fresh: FreshNames
}

/** All of the statement happens, or nothing. @param known what the chain has named before */
export function insertion(
  head: Head,
  { records, pending }: GroupCommit,
  key: KeyObject,
  known: Names = newNames(),
): Insertion {
  const rows = records.map(
    (record, index): ChainedRecord => ({
      ...record,
      query: storable(record.query),
      id: storable(record.id),
      chain: head.chain,
      sequence: head.sequence + index + 1,
    }),
  )
  let last = head.hash
  const hashes = rows.map(row => {
    last = rowHash(last, row)
    return storedHash(row.sequence, last)
  })
  const next: Head = { chain: head.chain, sequence: head.sequence + rows.length, hash: last }
  const fresh: FreshNames = newNames()
  const values = [head.chain, head.sequence, ...rowValues(rows, naming(known, fresh)), byteaArray(hashes)]
  values.push(next.sequence, next.hash, sealOf(key, next), textArray(pending))
  const isNaming = hasNames(fresh)
  if (isNaming) values.push(...namesValues(fresh))
  const [name, text] = isNaming ? ['audit-group-names', withNames] : ['audit-group', plain]
  return { statement: { text, values, name, isFixed: true }, next, fresh }
}

/** The values of rows in the order of the statement, all but their hashes. */
function rowValues(rows: readonly ChainedRecord[], { source, kind }: ReturnType<typeof naming>): unknown[] {
  const times = rows.map(row => placeInTime(row.recordedAt.getTime()))
  const sources = rows.map(row => source(row, row.sequence))
  return [
    int4Array(times.map(([second]) => second)),
    int4Array(sources.map(({ number }) => number)),
    int4Array(rows.map(row => kind(row, row.sequence).number)),
    int4Array(sources.map(each => each.key)),
    int4Array(rows.map(row => row.version)),
    int4Array(rows.map(row => row.resources)),
    int2Array(times.map(([, millisecond]) => millisecond)),
    byteaArray(rows.map(row => packId(row.requestId))),
    byteaArray(rows.map(row => packId(row.id))),
    textArray(rows.map(row => packQuery(row.query, row.type, row.patients[0]))),
    byteaArray(rows.map(row => packIds(row.patients))),
  ]
}

const rest = `row as (
    insert into audit_row (chain, sequence, second, source, kind, client_key, version, resources, millisecond, request, resource, query,
      patients, hash)
    select $1::integer, $2::integer + place, second, source, kind, client, version, resources, millisecond, request, resource, query,
      patients, hash
    from unnest($3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::integer[], $9::smallint[], $10::bytea[],
      $11::bytea[], $12::text[], $13::bytea[], $14::bytea[])
      with ordinality as t (second, source, kind, client, version, resources, millisecond, request, resource, query, patients, hash, place)
  ), head as (
    update audit_head set sequence = $15::bigint, hash = decode($16::text, 'hex'), seal = decode($17::text, 'hex')
    where chain = $1 and sequence = $2
    returning chain
  )
  select audit_settle((select count(*) from head), $18::text[]::uuid[])`
const plain = `with ${rest}`
const withNames = `with ${namesText(19)}${rest}`

/**
 * Returns true if the error states that another process has recorded a pending change: nothing of the group is written
 * then.
 */
export const isRecordedAlready = (error: unknown): boolean => codeOf(error) === 'HI003'

/**
 * Returns true if the error states that nothing can be added to the chain, because its period is closed or archived. Nothing of the group
 * is written then.
 */
export const isPeriodClosed = (error: unknown): boolean => codeOf(error) === 'HI005' || isWithoutRoom(error)

/** No partition takes the row (check_violation, of no constraint). */
const isWithoutRoom = (error: unknown): boolean =>
  codeOf(error) === '23514' && (error as { constraint?: unknown }).constraint === undefined

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code
