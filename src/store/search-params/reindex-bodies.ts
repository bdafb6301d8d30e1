// The older resources that new search parameters may be about: those of the type, and then those that contain one of it, in an order
// in which the work can go on at any place.

import { int8Array, safeInt8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { containedPosting } from '../index/contained.ts'
import type { Extractor } from '../index/draft.ts'
import { type ParamKey, present } from '../index/postings.ts'
import { shardArray } from '../index/shard.ts'
import { typeName } from '../type-number.ts'
import type { SearchParams } from './known.ts'

export interface Body {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

export interface Bodies {
  readonly bodies: readonly Body[]
  /** The place after each of them. */
  readonly places: readonly string[]
  /** The place after all of them; undefined if there are no more. */
  readonly end: string | undefined
}

/** Most resources that are read at a time, and most bytes of them; a single larger one comes alone. */
const most = 200
const mostBytes = 4 * 1024 * 1024

/** Begins the places of what contains resources of the type, by row numbers: later in order than every id. */
const containers = '~'

/** The next resources from a place on. */
export async function nextBodies(on: Queryable, params: SearchParams, type: number, after: string): Promise<Bodies> {
  if (!after.startsWith(containers)) {
    const read = await ownBodies(on, type, after)
    const places = read.map(({ id }) => id)
    if (read.length === 0) return nextBodies(on, params, type, containers)
    return { bodies: read, places, end: isAll(read) ? containers : places.at(-1) }
  }
  const read = await containerBodies(on, params, type, Number(after.slice(containers.length)))
  const places = read.map(({ key }) => containers + String(key).padStart(16, '0'))
  return { bodies: read, places, end: isAll(read) ? undefined : places.at(-1) }
}

interface Read extends Body {
  /** How many were to be had at a time, before bytes were counted. */
  readonly there: number
}

const isAll = (read: readonly Read[]): boolean =>
  read.length === 0 || (read.length === read[0]!.there && read.length < most)

const columns = 'key, type, id, version, updated_at, body'
const columnsOf = (row: string): string => columns.replace(/\w+/g, `${row}.$&`)

/** The first of the rows, as far as their bytes go; the length of a body is known without reading it. */
const bounded = (rows: string, order: string): string => `select ${columns}, there from (
    select given.*, count(*) over () as there, sum(octet_length(body)) over (order by ${order.replace(/^\w\./, '')}) - octet_length(body) as before
    from (${rows} order by ${order} limit ${most}) given) sized
  where before < ${mostBytes} order by ${order.replace(/^\w\./, '')}`

function ownBodies(on: Queryable, type: number, after: string): Promise<Read[]> {
  const text = bounded(
    `select ${columnsOf('r')} from directory d join resource r using (shard, key) where d.type = $1 and d.id > $2`,
    'd.id',
  )
  return on.query<Read>({ name: 'reindex-bodies', text, values: [type, after] })
}

function containerBodies(on: Queryable, params: SearchParams, type: number, after: number): Promise<Read[]> {
  const name = typeName(type)
  const postings = pointers(params, name).map(key => containedPosting(key, name))
  const holding = '(r.shard, r.key) in (select s.shard, s.key from search s where s.tokens && $1::bigint[])'
  const text = bounded(`select ${columnsOf('r')} from resource r where ${holding} and r.key > $2`, 'r.key')
  return on.query<Read>({ name: 'reindex-containers', text, values: [int8Array(postings), after] })
}

/** The reference parameters that may point at a contained resource of the type, which is found through its container by them. */
const pointers = (params: SearchParams, type: string): ParamKey[] =>
  resourceTypes.flatMap(container =>
    [...params.of(container).values()]
      .filter(param => param.type === 'reference' && (param.targets?.includes(type) ?? true))
      .flatMap(param => params.keys(container, param.code)),
  )

/**
 * Returns the row numbers of what was indexed by the very same definitions before they were deleted or suspended: since then a
 * value may have been removed unnoticed.
 */
export async function formerlyIndexed(
  on: Queryable,
  params: SearchParams,
  type: string,
  extractors: readonly Extractor[],
  bodies: readonly Body[],
): Promise<Set<number>> {
  if (bodies.length === 0) return new Set()
  const salts = [0n, ...pointers(params, type).map(key => key.salt)]
  const postings = extractors.flatMap(({ key }) => salts.map(salt => present(key) ^ salt))
  const numbers = bodies.map(body => body.key)
  const found = await on.query<{ key: number }>({
    name: 'reindex-stale',
    text: 'select key from search where shard = any($3::smallint[]) and key = any($1::bigint[]) and tokens && $2::bigint[]',
    values: [safeInt8Array(numbers), int8Array(postings), shardArray(numbers)],
  })
  return new Set(found.map(row => row.key))
}
