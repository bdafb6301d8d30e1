// The versions of resources, newest first, page by page. https://hl7.org/fhir/R4/http.html#history
import type { Queryable } from '../db/statement.ts'
import type { Memory } from '../lib/blocks.ts'
import { Failure } from '../lib/failure.ts'
import { isWorldly } from './index/subject.ts'
import type { Principal, Reading } from './principal.ts'
import { read } from './read.ts'
import { type Binder, createBinder, typeArray } from './search/binder.ts'
import { boundReach, reached } from './search/reach.ts'
import { typeNumber } from './type-number.ts'
import { columns, toVersion, type Version, type VersionRow, versionTables } from './versions.ts'
import type { Reach, Visibility } from './visibility.ts'

/** Where a page of history begins: after this version, in order of time, type, id and version, newest first. */
export interface HistoryPlace {
  readonly time: number
  readonly type: number
  readonly id: string
  readonly version: number
}

export interface HistoryRequest {
  /** Absent: all types that `types` names. */
  readonly type?: string
  readonly id?: string
  /** Types the caller may see. */
  readonly types: readonly string[]
  /** Only versions made at or after this time (ms). */
  readonly since?: number
  /** Only the versions that were current at some time in this interval (ms). */
  readonly at?: { readonly low: number; readonly high: number }
  readonly count: number
  readonly after?: HistoryPlace
  readonly before?: HistoryPlace
  /** Where long bodies stay, for a caller that gives it back; absent: they are strings. */
  readonly memory?: Memory
}

export interface HistoryPage {
  /** The newest first; one more than the page holds if there are more. */
  readonly versions: Version[]
  /** The total; undefined if the versions would have to be counted. */
  readonly total: number | undefined
}

/**
 * Returns versions, newest first, one more than `count` if there are more.
 * @throws Failure NOT_FOUND for the history of a resource that never existed.
 */
export async function history(reading: Reading, request: HistoryRequest): Promise<HistoryPage> {
  const { on, principal } = reading
  const reach = await reachOf(reading, request)
  const binder = createBinder()
  const text =
    request.at && on.layout === 'distributed'
      ? timelineText(request, principal.visibility, binder)
      : pageText(request, { ...principal, layout: on.layout }, reach, binder)
  const rows = await on.query<VersionRow>({ text, values: binder.values, memory: request.memory })
  const isFirst = !request.after && !request.before
  if (rows.length === 0 && request.id && isFirst) await mustHaveBeen(on, request.type!, request.id)
  const versions = (request.before ? rows.reverse() : rows).map(toVersion)
  return { versions, total: await totalOf(reading, request, versions.length) }
}

const patientTypes = (types: readonly string[]): string[] => types.filter(type => !isWorldly(type))

/** Returns the patients that a caller with little access may see; undefined if the caller may see many, or reads one resource. */
async function reachOf(
  { on, principal: { visibility } }: Reading,
  { type, id, types }: HistoryRequest,
): Promise<Reach | undefined> {
  const asked = patientTypes(type ? [type] : types)
  if (!visibility || id !== undefined || asked.length === 0) return undefined
  const binder = createBinder()
  const text = visibility.reach(asked.map(typeNumber), binder)
  const [reach] = await on.query<Reach>({ isFixed: true, text, values: binder.values })
  return reach
}

/** Statements for the current and for the former versions of some types, each of as many as a page needs. */
interface Parts {
  readonly current: string
  readonly former: string
}

/** The statement of a page: it reads the index by time, or, for a caller with access to few patients, all versions within reach. */
function pageText(
  request: HistoryRequest,
  { visibility, layout }: Pick<Principal, 'visibility'> & Pick<Queryable, 'layout'>,
  reach: Reach | undefined,
  binder: Binder,
): string {
  const { bind } = binder
  const asked = request.type ? [request.type] : request.types
  const conditions = [...(visibility ? ['is_seen'] : []), ...timeConditions(request, bind)]
  const order = orderBy(request)
  const limit = `limit ${bind(request.count + 1)}`
  const rest = `${order} ${limit}`
  const met = { current: conditions, former: [...conditions, ...lastingConditions(request, bind)] }
  const first = (table: string, which: keyof Parts, ...ofType: string[]): string =>
    `select ${named}, ${which === 'current'} as is_current from ${table} where ${[...ofType, ...met[which]].join(' and ') || 'true'} ${rest}`
  const along = (types: readonly string[]): Parts[] => {
    if (types.length === 0) return []
    const tables = versionTables({ ...binder, visibility, of: boundOf(request, bind) })
    const all = (): string => typeArray(types, { bind })
    const part = (which: keyof Parts): string => {
      const rows = (...ofType: string[]): string => first(tables[which], which, ...ofType)
      if (request.id !== undefined) return `(${rows()})`
      // There an index holds all types in the order of time, and no limit stands for each of several.
      if (layout === 'distributed') return `(${rows(`type = any(${all()})`)})`
      return `(select v.* from unnest(${all()}) as of(type) cross join lateral (${rows('type = of.type')}) v)`
    }
    return [{ current: part('current'), former: part('former') }]
  }
  const within = (types: readonly string[]): Parts[] => {
    if (!reach || !visibility || types.length === 0) return []
    const close = reachedTables(types, reach, visibility, binder)
    const part = (which: keyof Parts): string => `(${first(close[which], which)})`
    return [{ current: part('current'), former: part('former') }]
  }
  const parts = reach ? [...along(asked.filter(isWorldly)), ...within(patientTypes(asked))] : along(asked)
  const all = (which: keyof Parts): string => parts.map(part => part[which]).join(' union all ')
  return `with newest as materialized (select * from (${all('current')}) versions ${rest}), page as materialized (
      select * from (select * from newest union all ${all('former')}) versions ${rest}
    ), current as materialized (
      select r.key, r.body from page join resource r using (shard, key) where page.is_current and r.version = page.version
    ), former as materialized (
      select h.type, h.id, h.version, h.body from page join history h using (shard, type, id, version) where not page.is_current
    )
    select ${columns.replace(/\w+/g, each => (each === 'body' ? 'coalesce(current.body, former.body) as body' : `page.${each}`))}
    from page left join current using (key) left join former on former.type = page.type and former.id = page.id and former.version = page.version
    ${order.replace(/(order by|,) /g, '$& page.')}`
}

/**
 * The conditions on a row of `history` that it was current at some time of the interval, and that it is not beyond the page that the current versions
 * fill by themselves: of most, the next version came before that time, and they are passed one by one.
 */
function lastingConditions({ at, before, count }: HistoryRequest, bind: Bind): string[] {
  if (!at) return []
  const of = (row: string): string => `${row}.type = history.type and ${row}.id = history.id`
  const next = `coalesce(
      (select n.updated_at from history n where ${of('n')} and n.version > history.version order by n.version limit 1),
      (select n.updated_at from directory d join resource n using (shard, key) where ${of('d')}))`
  const bound = (last: string, sign: string, beyond: string): string =>
    `updated_at ${sign} coalesce((select ${last}(updated_at) from newest having count(*) > ${bind(count)}), '${beyond}')`
  return [
    `coalesce(${next} > ${moment(at.low, bind)}, true)`,
    before ? bound('max', '<=', 'infinity') : bound('min', '>=', '-infinity'),
  ]
}

/** The one resource whose history is wanted, as SQL. */
const boundOf = ({ type, id }: HistoryRequest, bind: Bind) =>
  type === undefined || id === undefined ? undefined : { type: bind(typeNumber(type)), id: bind(id) }

/** Of a page, all but the bodies: only those that are shown are fetched. */
const named = 'type, id, version, method, updated_at, shard, key'

/** The same tables as `versionTables` of what is within reach, each row once. */
function reachedTables(
  types: readonly string[],
  reach: Reach,
  visibility: Visibility,
  binder: Binder,
): { current: string; former: string } {
  const { bind } = binder
  const patients = `${bind(reach.patients)}::bigint[]`
  const of = `any(${typeArray(types, { bind })})`
  const about = `h.subject = any(${patients})`
  const aboutSeveral = `h.about is not null and h.about && ${patients}`
  const written = `h.author = ${visibility.author(binder)} and h.author <> 0`
  const ways = [
    `${about} and h.subject not in (0, 1) and h.type = ${of}`,
    `${aboutSeveral} and (${about}) is not true and (h.type + 0) = ${of}`,
    `${written} and (${about}) is not true and (${aboutSeveral}) is not true and h.type = ${of}`,
  ]
  const former = ways.map(way => `select h.* from history h where ${way}`).join(' union all ')
  return {
    current: `(select r.type, r.id, r.version, r.method, r.updated_at, r.shard, r.key, ${visibility.resource('s', binder)} as is_seen
      from ${reached({ types }, boundReach(reach, binder), binder)} s join resource r using (shard, key)) resource`,
    former: `(select h.type, h.id, h.version, h.method, h.updated_at, h.shard, null::bigint as key, ${visibility.resource('h', binder)} as is_seen
      from (${former} offset 0) h) history`,
  }
}

/** The versions that were current at some time, where versions of one resource are not joined row by row. */
function timelineText(request: HistoryRequest, visibility: Visibility | undefined, binder: Binder): string {
  const { bind } = binder
  const { current, former } = versionTables({ ...binder, visibility, of: boundOf(request, bind) })
  const types = request.type ? [request.type] : request.types
  const which = request.id === undefined ? `type = any(${typeArray(types, binder)})` : 'true'
  const conditions = [...(visibility ? ['is_seen'] : []), ...timeConditions(request, bind)]
  conditions.push(`coalesce(until > ${moment(request.at!.low, bind)}, true)`)
  const all = visibility ? `${columns}, is_seen` : columns
  return `select ${columns} from (select *, lead(updated_at) over (partition by type, id order by version) as until
      from (select ${all} from ${current} union all select ${all} from ${former}) versions where ${which}) timeline
    where ${conditions.join(' and ')} ${orderBy(request)} limit ${bind(request.count + 1)}`
}

type Bind = Binder['bind']

const moment = (milliseconds: number, bind: Bind): string =>
  `to_timestamp(${bind(milliseconds)}::double precision / 1000)`

function timeConditions({ since, at, after, before }: HistoryRequest, bind: Bind): string[] {
  const conditions: string[] = []
  if (at) conditions.push(`updated_at <= ${moment(at.high, bind)}`)
  if (since !== undefined) conditions.push(`updated_at >= ${moment(since, bind)}`)
  const place = after ?? before
  if (place) {
    const row = `(${moment(place.time, bind)}, ${bind(place.type)}::smallint, ${bind(place.id)}::text, ${bind(place.version)}::integer)`
    conditions.push(`(updated_at, type, id, version) ${after ? '<' : '>'} ${row}`)
  }
  return conditions
}

function orderBy({ before }: HistoryRequest): string {
  const direction = before ? 'asc' : 'desc'
  return `order by updated_at ${direction}, type ${direction}, id collate "C" ${direction}, version ${direction}`
}

/**
 * Returns the total. A page that holds all versions gives it without another query; the versions of one resource are few and quick
 * to count.
 */
async function totalOf(reading: Reading, request: HistoryRequest, found: number): Promise<number | undefined> {
  const { type, id, since, at, after, before, count } = request
  if (!after && !before && found <= count) return found
  return type !== undefined && id !== undefined && since === undefined && !at
    ? countVersions(reading, { type, id })
    : undefined
}

/** How many versions a resource has. */
async function countVersions(
  { on, principal }: Reading,
  { type, id }: { readonly type: string; readonly id: string },
): Promise<number> {
  const binder = createBinder()
  for (const value of [typeNumber(type), id]) binder.bind(value)
  const { current, former } = versionTables({
    ...binder,
    visibility: principal.visibility,
    of: { type: '$1', id: '$2' },
  })
  const part = (table: string): string =>
    `(select count(*) from ${table}${principal.visibility ? ' where is_seen' : ''})`
  const [row] = await on.query<{ found: number }>({
    text: `select ${part(current)} + ${part(former)} as found`,
    values: binder.values,
  })
  return row!.found
}

async function mustHaveBeen(on: Queryable, type: string, id: string): Promise<void> {
  await read(on, type, id).catch(error => {
    if (error instanceof Failure && error.code === 'NOT_FOUND') throw error
  })
}
