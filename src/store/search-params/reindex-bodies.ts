// The older resources that new search parameters may be about: those of the type, and then those that contain one of it, in an order
// in which the work can go on at any place.
import { int4Array, int8Array, safeInt8Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { containedPosting } from '../index/contained.ts'
import { namedKey, type ParamKey } from '../index/postings.ts'
import { shardArray } from '../index/shard.ts'
import { likeText } from '../search/sql-context.ts'
import { typeName } from '../type-number.ts'
import type { SearchParams } from './known.ts'
import { needed } from './needed.ts'
import type { IndexingTask } from './reindex-work.ts'

export interface Body {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

/** Stands for a body in which the parameters find nothing, and have found nothing before. */
export const unread = ''

export interface Bodies {
  readonly bodies: readonly Body[]
  /** The place of each of them. */
  readonly places: readonly string[]
  /** True if there are no more after them. */
  readonly isLast: boolean
}

/** Most resources that are read at a time, and most bytes of them; a single larger one comes alone. */
const most = 500
const mostBytes = 4 * 1024 * 1024

const padded = (number: number): string => String(number).padStart(16, '0')

/** Makes every time positive, so that places are in order as texts. */
const shift = 1e15

const timePlace = ({ updated_at: at, key }: Body): string => padded(at.getTime() + shift) + padded(key)

/**
 * The next resources from a place on. Those of the type come in the order of their times, which is nearly that of the table: each page of
 * it is read, and written to the log, once. A change only moves a resource further on.
 */
export async function nextBodies(on: Queryable, params: SearchParams, task: IndexingTask): Promise<Bodies> {
  const { type, isOfContainers, after } = task
  const read = isOfContainers
    ? await containerBodies(on, params, type, Number(after))
    : await ownBodies(on, params, task)
  const places = read.map(isOfContainers ? ({ key }) => padded(key) : timePlace)
  return { bodies: read, places, isLast: isAll(read) }
}

interface Read extends Body {
  /** How many were to be had at a time, before bytes were counted. */
  readonly there: number
}

const isAll = (read: readonly Read[]): boolean =>
  read.length === 0 || (read.length === read[0]!.there && read.length < most)

const columns = 'key, type, id, version, updated_at, body'

/** The first of the rows, as far as their bytes go; the length of a body is known without reading it. */
const bounded = (rows: string, order: string): string => `select ${columns}, there from (
    select given.*, count(*) over () as there, sum(octet_length(body)) over (order by ${order}) - octet_length(body) as before
    from (${rows} order by ${order} limit ${most}) given) sized
  where before < ${mostBytes} order by ${order}`

function ownBodies(
  on: Queryable,
  params: SearchParams,
  { type, waiting, after, indexedSince }: IndexingTask,
): Promise<Read[]> {
  const beyond = '(updated_at, key) > (to_timestamp($2::float8 / 1000), $3::bigint)'
  const isNeeded = '$4::text[] is null or updated_at >= $5::timestamptz or body like any($4::text[])'
  const read = columns.replace('body', `case when ${isNeeded} then body else '${unread}' end as body`)
  const text = bounded(`select ${read} from resource where type = $1 and ${beyond}`, 'updated_at, key')
  const at = after === '' ? -Infinity : Number(after.slice(0, 16)) - shift
  const own = params.own(typeName(type)).filter(({ key: { name } }) => waiting.some(({ key }) => key === name))
  const texts = indexedSince ? own.map(({ tree }) => needed(tree)) : [undefined]
  const isAnyNeeded = texts.some(each => each === undefined)
  const patterns = isAnyNeeded ? null : textArray(texts.flatMap(each => each ?? []).map(each => `%${likeText(each)}%`))
  const values = [type, at, Number(after.slice(16)), patterns, indexedSince ?? null]
  return on.query<Read>({ name: 'reindex-bodies', text, values })
}

function containerBodies(on: Queryable, params: SearchParams, type: number, after: number): Promise<Read[]> {
  const name = typeName(type)
  const postings = pointers(params, name).map(key => containedPosting(key, name))
  // `offset 0`, and an array that the planner does not know: else it would look through all resources, expecting many of these.
  const holding = `select h.key, h.shard from (select s.key, s.shard from search s where s.tokens && (select $1::bigint[]) offset 0) h
    where h.key > $2 order by h.key limit ${most}`
  const text = bounded(`select ${columns} from (${holding}) held join resource r using (shard, key)`, 'key')
  return on.query<Read>({ name: 'reindex-containers', text, values: [int8Array(postings), after] })
}

/** The reference parameters that may point at a contained resource of the type, which is found through its container by them. */
export const pointers = (params: SearchParams, type: string): ParamKey[] =>
  resourceTypes.flatMap(container =>
    [...params.of(container).values()]
      .filter(param => param.type === 'reference' && (param.targets?.includes(type) ?? true))
      .flatMap(param => params.keys(container, param.code)),
  )

/**
 * Returns the row numbers of what has values of the parameters already: it was indexed by the very same definitions before they were
 * deleted or suspended, and since then a value may have been removed unnoticed; or it was changed since they were defined.
 */
export async function formerlyIndexed(
  on: Queryable,
  params: SearchParams,
  { type, waiting, indexedSince }: Pick<IndexingTask, 'type' | 'waiting' | 'indexedSince'>,
  bodies: readonly Body[],
): Promise<Set<number>> {
  const asked = indexedSince ? bodies.filter(({ updated_at: at }) => at >= indexedSince) : bodies
  if (asked.length === 0) return new Set()
  const keys = waiting.map(({ key }) => namedKey(key))
  const salts = [0n, ...pointers(params, typeName(type)).map(key => key.salt)]
  const numbers = asked.map(body => body.key)
  const among = 'shard = any($4::smallint[]) and key = any($1::bigint[])'
  const found = await on.query<{ key: number }>({
    name: 'reindex-stale',
    text: `select key from search where ${among} and tokens && $2::bigint[]
      union select key from span where ${among} and param = any($3::integer[])
      union select key from word where ${among} and param = any($3::integer[])`,
    values: [
      safeInt8Array(numbers),
      int8Array(keys.flatMap(key => salts.map(salt => key.present ^ salt))),
      int4Array(keys.map(key => key.number)),
      shardArray(numbers),
    ],
  })
  return new Set(found.map(row => row.key))
}
