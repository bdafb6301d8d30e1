// What has no clinical date, in the order of another date: for lists by date that leave nothing out.
import { int2Array, int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { dateInterval } from '../dates.ts'
import { otherDate } from '../index/clinical-date.ts'
import { noDate } from '../index/draft.ts'
import { selfHash } from '../index/postings.ts'
import { typeName, typeNumber } from '../type-number.ts'
import type { Criterion, Instead, SearchRequest, UndatedCriterion } from './request.ts'
import type { SqlContext } from './sql-context.ts'

/** Dates as a search has them, both inclusive. */
interface Span {
  readonly since: string | undefined
  readonly until: string | undefined
}

/**
 * Turns a search of one type for its last changes (`_sort=-_lastUpdated`) into one for those of its matches that have no clinical date, in
 * the order of the date that stands in.
 */
export function withoutDate(request: SearchRequest, { since, until }: Span): SearchRequest {
  const instead = { element: otherDate(request.types[0]!) }
  const from = since === undefined ? undefined : dateInterval(since)?.low
  const to = until === undefined ? undefined : dateInterval(until)?.high
  return {
    ...request,
    criteria: [...request.criteria, { kind: 'undated', types: request.types, instead, from, to }],
    sort: request.sort.map(key => ({ ...key, instead })),
  }
}

/** Returns those of the types of which these patients have something without a clinical date, whoever may see it. */
export async function undatedTypes(
  on: Queryable,
  patients: readonly string[],
  types: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ type: number }>({
    name: 'undated-types',
    isFixed: true,
    text: `select distinct s.type from search s
      where s.patient = any($1::bigint[]) and s.type = any($2::smallint[]) and s.date = ${noDate}`,
    values: [int8Array(patients.map(id => selfHash('Patient', id))), int2Array(types.map(typeNumber))],
  })
  return new Set(rows.map(({ type }) => typeName(type)))
}

export const isUndated = (criterion: Criterion): criterion is UndatedCriterion => criterion.kind === 'undated'

/** The date of the row `u` of `resource` that stands in. */
export const dateInstead = ({ element }: Instead): string =>
  element === undefined
    ? 'u.updated_at'
    : `least(coalesce((u.body::json ->> '${element}')::timestamptz, u.updated_at), timestamptz '9999-12-31')`

export function undatedCondition(criterion: UndatedCriterion, row: string, { bind }: SqlContext): string {
  const { instead, from, to } = criterion
  const at = (ms: number): string => `to_timestamp(${bind(ms)}::double precision / 1000)`
  const bounds = [
    ...(from === undefined ? [] : [`${dateInstead(instead)} >= ${at(from)}`]),
    ...(to === undefined ? [] : [`${dateInstead(instead)} < ${at(to + 1)}`]),
  ]
  const isUndatedRow = `${row}.date = ${noDate}`
  if (bounds.length === 0) return isUndatedRow
  return `(${isUndatedRow} and exists (select 1 from resource u where u.shard = ${row}.shard and u.key = ${row}.key and ${bounds.join(' and ')} offset 0))`
}
