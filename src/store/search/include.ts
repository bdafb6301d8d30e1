// What the matches of a page refer to and what refers to them, for pages that hold all of it: one statement for each include of
// a round, never one for each resource. A page that would hold too much is written by include-pages.ts.
// https://hl7.org/fhir/R4/search.html#include

import { int2Array, int8Array, safeInt8Array } from '../../db/arrays.ts'
import { prepared } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { shardArray } from '../index/shard.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { createBinder } from './binder.ts'
import { type HitRow, hitColumns } from './hit.ts'
import type { Include } from './request.ts'
import type { SearchOptions } from './sql-context.ts'

/** Rounds of `:iterate` that are queried one by one; what lies deeper is found by a single statement. */
const mostRounds = 5

/** What is included with the matches; undefined if it is more than a page holds, or lies deeper than a few rounds. */
export async function includedWith(
  on: Queryable,
  includes: readonly Include[],
  matches: readonly HitRow[],
  options: SearchOptions,
): Promise<HitRow[] | undefined> {
  const met = new Set(matches.map(row => row.key))
  const found: HitRow[] = []
  let from: readonly HitRow[] = matches
  for (let round = 0; from.length > 0; round++) {
    const wanted = includes.filter(each => round === 0 || each.iterate)
    if (wanted.length === 0) break
    if (round === mostRounds) return undefined
    const fresh: HitRow[] = []
    for (const each of wanted) {
      const sources = each.iterate && round === 0 ? [...from, ...fresh] : from
      const rows = await follow(on, each, sources, options)
      if (rows.length > options.maxIncluded) return undefined
      fresh.push(...rows.filter(row => !met.has(row.key)))
      for (const { key } of rows) met.add(key)
    }
    found.push(...fresh)
    if (found.length > options.maxIncluded) return undefined
    from = fresh
  }
  return found
}

/** An include as postings and types: from resources of some types, by some parameters, to resources of some types. */
export interface Way {
  readonly reverse: boolean
  readonly iterate: boolean
  /** Type of the resources that it starts from; undefined: any. */
  readonly from: string | undefined
  readonly salts: readonly bigint[]
  readonly to: readonly number[]
}

/** The way of an include, as far as the caller may see where it leads; undefined if it leads nowhere. */
export function wayOf({ source, param, target, reverse, iterate }: Include, options: SearchOptions): Way | undefined {
  const { params: known } = options.indexer
  const params = param ? [param] : [...known.of(source).values()].filter(each => each.type === 'reference')
  const salts = [...new Set(params.flatMap(each => known.keys(source, each.code)).map(key => key.salt))]
  const targets = target ? [target] : [...new Set(params.flatMap(each => each.targets ?? resourceTypes))]
  const to = (reverse ? [source] : targets).filter(options.maySee).map(typeNumber)
  if (salts.length === 0 || to.length === 0) return undefined
  return { reverse, iterate, from: reverse ? target : source, salts, to }
}

function follow(
  on: Queryable,
  include: Include,
  from: readonly HitRow[],
  options: SearchOptions,
): Promise<readonly HitRow[]> {
  const way = wayOf(include, options)
  const starts = from.filter(row => way?.from === undefined || typeName(row.type) === way.from)
  if (!way || starts.length === 0) return Promise.resolve([])
  const binder = createBinder()
  binder.bind(safeInt8Array(starts.map(row => row.key)))
  binder.bind(int8Array(way.salts))
  binder.bind(int2Array(way.to))
  binder.bind(options.maxIncluded + 1)
  binder.bind(shardArray(starts.map(row => row.key)))
  const conditions = seen('t', { ...binder, visibility: options.visibility }).map(each => ` and ${each}`)
  const text = (way.reverse ? reverseText : forwardText)(conditions.join(''))
  return on.query<HitRow>(prepared(text, binder, true))
}

const forwardText = (more: string): string => `with named as materialized (
    select distinct ref # salt as self from search s, unnest(s.refs) as ref, unnest($2::bigint[]) as salt
    where s.shard = any($5::smallint[]) and s.key = any($1::bigint[])
  )
  select distinct on (r.key) ${hitColumns} from named join search t using (self) join resource r on r.shard = t.shard and r.key = t.key
  where t.type = any($3::smallint[])${more} limit $4`

const reverseText = (more: string): string => `select distinct on (r.key) ${hitColumns}
  from search t, resource r
  where t.refs && (select coalesce(array_agg(s.self # salt), '{}') from search s, unnest($2::bigint[]) as salt 
      where s.shard = any($5::smallint[]) and s.key = any($1::bigint[]))
    and t.type = any($3::smallint[]) and r.shard = t.shard and r.key = t.key${more} limit $4`
