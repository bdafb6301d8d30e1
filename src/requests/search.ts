// Finds requests in the log, newest first, for those who may see them: an organisation its own, administrators all.
import type { Queryable } from '../db/statement.ts'
import type { LoggedRequest } from './entry.ts'
import { firstIdAt, timeOf } from './time.ts'
import { firstIdOf, stretchAt, stretchesOf, valuesOf } from './value.ts'

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

const columns = `id, coalesce(request_id, id::text) as "requestId", client_id as "clientId", organization_id as "organizationId", method, route,
  resource_type as "resourceType", status, error_code as "errorCode", milliseconds, bytes_in as "bytesIn", bytes_out as "bytesOut"`

const found = (row: Omit<FoundRequest, 'at'>): FoundRequest => ({ ...row, at: timeOf(row.id) })

/** Takes in a value, and returns its place in the statement. */
type Bind = (value: unknown) => string

interface Page {
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * Returns requests, newest first.
 * @param organization whose requests they are; undefined: any
 * @param after the id of the last request of the page before
 */
export async function findRequests(
  on: Queryable,
  organization: string | undefined,
  filter: RequestFilter,
  page: Page,
): Promise<FoundRequest[]> {
  const values: unknown[] = []
  const bind: Bind = value => `$${values.push(value)}`
  const sought = filter.requestId === undefined ? valuesOf({ ...filter, organizationId: organization }) : []
  const conditions = conditionsOf(organization, filter, page, bind)
  const text =
    sought.length === 0
      ? newest(conditions, page.limit)
      : `select r.* from (${stretchesOf(
          sought.map(each => `${bind(each)}::bigint`),
          stretchConditions(filter, page, bind),
        )}) s, lateral (${newest([...conditions, `id >= ${firstIdOf('s.stretch')}`, `id < ${firstIdOf('(s.stretch + 1)')}`], page.limit)}) r
        order by s.stretch desc, r.id desc limit ${page.limit}`
  return (await on.query<Omit<FoundRequest, 'at'>>({ text, values })).map(found)
}

const newest = (conditions: readonly string[], limit: number): string =>
  `select ${columns} from request_log ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''} order by id desc limit ${limit}`

function conditionsOf(organization: string | undefined, filter: RequestFilter, { after }: Page, bind: Bind): string[] {
  const equal = (column: string, wanted: string | undefined): string[] =>
    wanted === undefined ? [] : [`${column} = ${bind(wanted)}`]
  const { statusClass, from, to } = filter
  return [
    ...equal('organization_id', organization),
    ...(filter.requestId === undefined ? [] : [requestCondition(filter.requestId, bind)]),
    ...equal('client_id', filter.clientId),
    ...equal('method', filter.method),
    ...equal('route', filter.route),
    ...equal('resource_type', filter.resourceType),
    ...equal('error_code', filter.errorCode),
    ...(statusClass === undefined
      ? []
      : [`status between ${bind(statusClass * 100)} and ${bind(statusClass * 100 + 99)}`]),
    ...(from === undefined ? [] : [`id >= ${bind(firstIdAt(from.getTime()))}`]),
    ...(to === undefined ? [] : [`id < ${bind(firstIdAt(to.getTime()))}`]),
    ...(after === undefined ? [] : [`id < ${bind(after)}`]),
  ]
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A request id that the service made is the id of its row. */
function requestCondition(requestId: string, bind: Bind): string {
  const given = `request_id = ${bind(requestId)}`
  return uuid.test(requestId) ? `(${given} or (id = ${bind(requestId)} and request_id is null))` : given
}

/** The stretches of the time that is asked for. */
const stretchConditions = ({ from, to }: RequestFilter, { after }: Page, bind: Bind): string[] => [
  ...(from === undefined ? [] : [`v.stretch >= ${bind(stretchAt(from.getTime()))}::bigint`]),
  ...(to === undefined ? [] : [`v.stretch <= ${bind(stretchAt(to.getTime()))}::bigint`]),
  ...(after === undefined ? [] : [`v.stretch <= ${bind(stretchAt(timeOf(after).getTime()))}::bigint`]),
]

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
