// Reads stored versions and their history; bodies come out as they were stored.

import { preparedName } from '../db/database.ts'
import { largeAnswer, type Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import type { Reading } from './principal.ts'
import { type Binder, createBinder } from './search/binder.ts'
import { methodName, typeName, typeNumber, type WriteMethod } from './type-number.ts'
import type { Seen, Visibility } from './visibility.ts'

/** One version of a resource; `body` is its JSON as stored, or null where the version is a deletion. */
export interface Version {
  readonly type: string
  readonly id: string
  readonly version: number
  readonly updatedAt: Date
  readonly method: WriteMethod
  readonly body: string | null
}

interface VersionRow {
  readonly key?: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly method: number
  readonly body: string | null
}

function toVersion(row: VersionRow): Version {
  return {
    type: typeName(row.type),
    id: row.id,
    version: row.version,
    updatedAt: row.updated_at,
    method: methodName(row.method),
    body: row.body,
  }
}

const readText = `select type, id, version, updated_at, method, body from resource where type = $1 and id = $2`

/**
 * The current version. https://hl7.org/fhir/R4/http.html#read
 * With `lock`, others that want to change it wait until this transaction ends.
 * @throws Failure NOT_FOUND if there never was one, GONE if it was deleted.
 */
export async function read(
  on: Queryable,
  type: string,
  id: string,
  { lock = false } = {},
): Promise<Version & { body: string }> {
  const [row] = await on.query<VersionRow>({
    name: lock ? 'read-lock' : 'read',
    isFixed: true,
    text: lock ? `${readText} for update` : readText,
    values: [typeNumber(type), id],
  })
  return row ? (toVersion(row) as Version & { body: string }) : mustBeThere(on, type, id)
}

/** The current version if it is there and the caller may see it, by one statement. */
export async function readVisible(
  on: Queryable,
  visibility: Visibility,
  type: string,
  id: string,
  { lock = false } = {},
): Promise<(Version & { body: string }) | undefined> {
  const binder = createBinder()
  const text = `select r.type, r.id, r.version, r.updated_at, r.method, r.body from resource r join search s using (key)
    where r.type = ${binder.bind(typeNumber(type))} and r.id = ${binder.bind(id)}
      and ${visibility.resource('s', binder)}${lock ? ' for update of r' : ''}`
  const [row] = await on.query<VersionRow>({ name: preparedName(text), isFixed: true, text, values: binder.values })
  return row && (toVersion(row) as Version & { body: string })
}

/** @throws Failure NOT_FOUND, or GONE if it was deleted: for what is not there. */
export async function mustBeThere(on: Queryable, type: string, id: string): Promise<never> {
  const [last] = await on.query<{ version: number }>({
    name: 'read-gone',
    isFixed: true,
    text: 'select version from history where type = $1 and id = $2 order by version desc limit 1',
    values: [typeNumber(type), id],
  })
  if (last)
    throw new Failure('GONE', `${type}/${id} was deleted (version ${last.version}).`, {
      headers: { etag: `W/"${last.version}"` },
    })
  throw new Failure('NOT_FOUND', `There is no ${type}/${id}.`)
}

/**
 * One version, current or not. https://hl7.org/fhir/R4/http.html#vread
 * @throws Failure NOT_FOUND for an unknown version, GONE if that version is the deletion.
 */
export async function readVersion(
  { on, principal }: Reading,
  type: string,
  id: string,
  version: number,
): Promise<Version & { body: string }> {
  const binder = createBinder()
  for (const value of [typeNumber(type), id, version]) binder.bind(value)
  const { current, former } = versionTables({ ...binder, visibility: principal.visibility })
  const where = `where type = $1 and id = $2 and version = $3${principal.visibility ? ' and is_seen' : ''}`
  const [row] = await on.query<VersionRow>({
    name: principal.visibility ? undefined : 'read-version',
    isFixed: true,
    text: `select ${columns} from ${current} ${where} union all select ${columns} from ${former} ${where}`,
    values: binder.values,
  })
  if (!row) throw new Failure('NOT_FOUND', `There is no version ${version} of ${type}/${id}.`)
  if (row.body === null) throw new Failure('GONE', `Version ${version} of ${type}/${id} is its deletion.`)
  return toVersion(row) as Version & { body: string }
}

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
}

export interface HistoryPage {
  /** The newest first, one more than asked for if there are more. */
  readonly versions: Version[]
  /** How many there are in all; undefined if they would have to be counted. */
  readonly total: number | undefined
}

const columns = 'type, id, version, method, updated_at, body'

/** Where current and former versions are read from; for a caller who may not see them all, with a column that says which. */
function versionTables({ visibility, ...binder }: Seen & Binder): { current: string; former: string } {
  if (!visibility) return { current: 'resource', former: 'history' }
  return {
    current: `(select r.type, r.id, r.version, r.method, r.updated_at, r.body, ${visibility.resource('s', binder)} as is_seen
      from resource r join search s using (key)) resource`,
    former: `(select h.type, h.id, h.version, h.method, h.updated_at, h.body, ${visibility.version('h', binder)} as is_seen
      from history h) history`,
  }
}

/** How many versions a resource has. */
async function countVersions(
  { on, principal }: Reading,
  { type, id }: { readonly type: string; readonly id: string },
): Promise<number> {
  const binder = createBinder()
  for (const value of [typeNumber(type), id]) binder.bind(value)
  const { current, former } = versionTables({ ...binder, visibility: principal.visibility })
  const part = (table: string): string =>
    `(select count(*) from ${table} where type = $1 and id = $2${principal.visibility ? ' and is_seen' : ''})`
  const [row] = await on.query<{ found: number }>({
    text: `select ${part(current)} + ${part(former)} as found`,
    values: binder.values,
  })
  return row!.found
}

/**
 * Versions, newest first, one more than `count` if there are more. https://hl7.org/fhir/R4/http.html#history
 * @throws Failure NOT_FOUND for the history of a resource that never was.
 */
export async function history(reading: Reading, request: HistoryRequest): Promise<HistoryPage> {
  const { on, principal } = reading
  const binder = createBinder()
  const { bind, values } = binder
  bind(request.types.map(typeNumber))
  const { current, former } = versionTables({ ...binder, visibility: principal.visibility })
  const conditions = ['type = any($1::smallint[])', ...(principal.visibility ? ['is_seen'] : [])]
  if (request.type) conditions.push(`type = ${bind(typeNumber(request.type))}`)
  if (request.id) conditions.push(`id = ${bind(request.id)}`)
  if (request.since !== undefined)
    conditions.push(`updated_at >= to_timestamp(${bind(request.since)}::double precision / 1000)`)
  if (request.at) {
    conditions.push(`updated_at <= to_timestamp(${bind(request.at.high)}::double precision / 1000)`)
    conditions.push(`coalesce(until > to_timestamp(${bind(request.at.low)}::double precision / 1000), true)`)
  }
  const place = request.after ?? request.before
  if (place) {
    const row = `(to_timestamp(${bind(place.time)}::double precision / 1000), ${bind(place.type)}::smallint, ${bind(place.id)}::text, ${bind(place.version)}::integer)`
    conditions.push(`(updated_at, type, id, version) ${request.after ? '<' : '>'} ${row}`)
  }
  const direction = request.before ? 'asc' : 'desc'
  const inType = `updated_at ${direction}, id collate "C" ${direction}, version ${direction}`
  const order = `order by updated_at ${direction}, type ${direction}, id collate "C" ${direction}, version ${direction}`
  const limit = `limit ${bind(request.count + 1)}`
  const until = request.at ? `, lead(updated_at) over (partition by type, id order by version) as until` : ''
  const part = (table: string, isCurrent: boolean): string =>
    walked(table, isCurrent, `${conditions.join(' and ')} and type = of.type order by ${inType} ${limit}`)
  const all = principal.visibility ? `${columns}, is_seen` : columns
  const text = request.at
    ? `select ${columns} from (select *${until} from (select ${all} from ${current} union all select ${all} from ${former}) versions
        where type = any($1::smallint[])${request.id ? ' and id = $3' : ''}) timeline where ${conditions.join(' and ')} ${order} ${limit}`
    : `select type, id, version, method, updated_at, ${bodyOf('page')} as body
        from (select * from (${part(current, true)} union all ${part(former, false)}) versions ${order} ${limit}) page ${order}`
  const rows = await on.query<VersionRow>({ text, values, isLarge: request.count > largeAnswer })
  if (rows.length === 0 && request.id && !place) await mustHaveBeen(on, request.type!, request.id)
  const versions = (request.before ? rows.reverse() : rows).map(toVersion)
  return { versions, total: await totalOf(reading, request, versions.length) }
}

/** A page that holds all tells it for nothing; the versions of one resource are few and quickly counted. */
async function totalOf(reading: Reading, request: HistoryRequest, found: number): Promise<number | undefined> {
  const { type, id, since, at, after, before, count } = request
  if (!after && !before && found <= count) return found
  return type !== undefined && id !== undefined && since === undefined && !at
    ? countVersions(reading, { type, id })
    : undefined
}

/** The first versions of each type along its index, without their bodies: of all together only a page is read. */
const walked = (table: string, isCurrent: boolean, rest: string): string =>
  `(select v.* from unnest($1::smallint[]) as of(type) cross join lateral (
    select type, id, version, method, updated_at, ${isCurrent} as is_current from ${table} where ${rest}) v)`

const bodyOf = (page: string): string => {
  const which = `b.type = ${page}.type and b.id = ${page}.id and b.version = ${page}.version`
  return `case when ${page}.is_current then (select b.body from resource b where ${which})
    else (select b.body from history b where ${which}) end`
}

async function mustHaveBeen(on: Queryable, type: string, id: string): Promise<void> {
  await read(on, type, id).catch(error => {
    if (error instanceof Failure && error.code === 'NOT_FOUND') throw error
  })
}
