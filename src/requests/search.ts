// Finds requests in the log, newest first, for those who may see them: an organisation its own, administrators all.
import type { Queryable } from '../db/statement.ts'
import type { LoggedRequest } from './entry.ts'
import { firstIdAt, timeOf } from './time.ts'

/** What the requests that are looked for have in common; absent: any. */
export interface RequestFilter {
  readonly requestId?: string | undefined
  readonly clientId?: string | undefined
  readonly method?: string | undefined
  readonly route?: string | undefined
  readonly resourceType?: string | undefined
  /** The hundreds of the status. */
  readonly statusClass?: number | undefined
  readonly errorCode?: string | undefined
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/** A request as the log has it. */
export interface FoundRequest extends Omit<LoggedRequest, 'at' | 'bytesIn' | 'bytesOut'> {
  readonly id: string
  readonly at: Date
  readonly bytesIn: number | null
  readonly bytesOut: number | null
}

const columns = `id, request_id as "requestId", client_id as "clientId", organization_id as "organizationId", method, route,
  resource_type as "resourceType", status, error_code as "errorCode", milliseconds, bytes_in as "bytesIn", bytes_out as "bytesOut"`

const found = (row: Omit<FoundRequest, 'at'>): FoundRequest => ({ ...row, at: timeOf(row.id) })

/**
 * Returns requests, newest first.
 * @param organization whose requests they are; undefined: any
 * @param after the id of the last request of the page before
 */
export async function findRequests(
  on: Queryable,
  organization: string | undefined,
  filter: RequestFilter,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<FoundRequest[]> {
  const values: unknown[] = []
  const value = (each: unknown): string => `$${values.push(each)}`
  const equal = (column: string, wanted: string | undefined): string[] =>
    wanted === undefined ? [] : [`${column} = ${value(wanted)}`]
  const { statusClass, from, to } = filter
  const conditions = [
    ...equal('organization_id', organization),
    ...equal('request_id', filter.requestId),
    ...equal('client_id', filter.clientId),
    ...equal('method', filter.method),
    ...equal('route', filter.route),
    ...equal('resource_type', filter.resourceType),
    ...equal('error_code', filter.errorCode),
    // What the indexes of failures hold.
    ...(filter.errorCode !== undefined || (statusClass ?? 0) >= 4 ? ['status >= 400'] : []),
    ...(statusClass === undefined
      ? []
      : [`status between ${value(statusClass * 100)} and ${value(statusClass * 100 + 99)}`]),
    ...(from === undefined ? [] : [`id >= ${value(firstIdAt(from.getTime()))}`]),
    ...(to === undefined ? [] : [`id < ${value(firstIdAt(to.getTime()))}`]),
    ...(after === undefined ? [] : [`id < ${value(after)}`]),
  ]
  const rows = await on.query<Omit<FoundRequest, 'at'>>({
    text: `select ${columns} from request_log ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
      order by id desc limit ${limit}`,
    values,
  })
  return rows.map(found)
}

/** Returns one request by its id in the log; undefined if the organisation has none. */
export async function findRequest(
  on: Queryable,
  organization: string | undefined,
  id: string,
): Promise<FoundRequest | undefined> {
  const [row] = await on.query<Omit<FoundRequest, 'at'>>({
    name: 'request-log-one',
    text: `select ${columns} from request_log where id = $1 and ($2::text is null or organization_id = $2)`,
    values: [id, organization ?? null],
  })
  return row && found(row)
}

/** Requests that are not in the log. */
export interface Unlogged {
  readonly requests: number
  readonly from: Date
  readonly to: Date
}

/** Returns how many requests of an organisation, or of all, were dropped since a time, and when; undefined: none. */
export async function unloggedSince(
  on: Queryable,
  organization: string | undefined,
  since: Date,
): Promise<Unlogged | undefined> {
  const [row] = await on.query<{ requests: number; first: string | null; to: Date }>({
    text: `select coalesce(sum(requests), 0)::bigint as requests, min(id::text) as first, max(ended_at) as to
      from request_gap where id >= $1 and ($2::text is null or organization_id = $2)`,
    values: [firstIdAt(since.getTime()), organization ?? null],
  })
  const { requests, first, to } = row!
  return first === null ? undefined : { requests, from: timeOf(first), to }
}
