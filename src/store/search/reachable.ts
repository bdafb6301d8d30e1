// Everything that includes lead to from some matches, to any depth: walked step by step by row numbers, each resource once, so that only
// one page of bodies is fetched. A statement takes one step, which an engine that distributes the tables of resources answers as well.

import { int2Array, int8Array, safeInt8Array } from '../../db/arrays.ts'
import { prepared } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { shardArray } from '../index/shard.ts'
import { typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { createBinder } from './binder.ts'
import { type HitRow, hitsOf } from './hit.ts'
import { type Way, wayOf } from './include.ts'
import { tooCostly } from './query-text.ts'
import type { Include } from './request.ts'
import type { SearchOptions } from './sql-context.ts'

/** Most resources that the includes of one match may lead to, in pages of included resources. */
const mostPages = 100

/** Most steps from a match to what it includes. */
const mostSteps = 200

/** Resources from which a statement takes a step. */
const together = 1000

/** Where includes start, and by what they lead on. */
export interface Start {
  readonly includes: readonly Include[]
  /** Row numbers of the matches. */
  readonly keys: readonly number[]
}

/** True if everything that is included with the matches fits a page. */
export async function fitsPage(on: Queryable, start: Start, options: SearchOptions): Promise<boolean> {
  const { maxIncluded } = options
  return (await reached(on, start, { after: 0, most: maxIncluded }, options)).size <= maxIncluded
}

/**
 * Returns a page of what is included with the matches, in the order of row numbers after `after`, and one more if there is one.
 * @throws Failure MALFORMED_REQUEST if `:iterate` leads to more than pages can return.
 */
export async function reachable(
  on: Queryable,
  start: Start,
  after: number,
  options: SearchOptions,
): Promise<readonly HitRow[]> {
  const { maxIncluded } = options
  // What several steps lead to is worked out anew for each page: what comes before the page leads on, too.
  const isDeep = start.includes.some(each => each.iterate)
  const most = isDeep ? maxIncluded * mostPages : maxIncluded
  const found = await reached(on, start, { after: isDeep ? 0 : after, most }, options)
  if (isDeep && found.size > most) throw tooMany(`lead to more than ${most} resources`)
  const keys = [...found].filter(key => key > after).sort((one, other) => one - other)
  return hitsOf(on, keys.slice(0, maxIncluded + 1))
}

const tooMany = (what: string) =>
  tooCostly('_include', `The includes of a match ${what}: remove :iterate, or search for these resources directly.`)

/** What is looked for in one step, or in all: row numbers after `after`, and no more than one beyond `most`. */
interface Bounds {
  readonly after: number
  readonly most: number
}

/** Returns the row numbers that the includes lead to, the matches left out: the lowest of each way. With `:iterate`, it ends beyond the bound. */
async function reached(
  on: Queryable,
  { includes, keys }: Start,
  { after, most }: Bounds,
  options: SearchOptions,
): Promise<Set<number>> {
  const ways = includes.map(each => wayOf(each, options)).filter(way => way !== undefined)
  const onward = ways.filter(way => way.iterate)
  const matches = new Set(keys)
  const found = new Set<number>()
  let from: readonly number[] = keys
  for (let steps = 0; from.length > 0; steps++) {
    if (steps === mostSteps) throw tooMany(`lead further than ${mostSteps} steps`)
    const fresh: number[] = []
    for (const way of steps === 0 ? ways : onward)
      for (let begin = 0; begin < from.length; begin += together) {
        const sources = from.slice(begin, begin + together)
        // So many that what is known already is not all there is.
        for (const key of await step(on, way, sources, { after, most: most + matches.size }, options)) {
          if (matches.has(key) || found.has(key)) continue
          found.add(key)
          fresh.push(key)
        }
        if (onward.length > 0 && found.size > most) return found
      }
    from = onward.length > 0 ? fresh : []
  }
  return found
}

/** Returns where one way leads from some resources, in the order of row numbers; matches may be among them. */
async function step(
  on: Queryable,
  way: Way,
  from: readonly number[],
  { after, most }: Bounds,
  options: SearchOptions,
): Promise<number[]> {
  const binder = createBinder()
  const { bind } = binder
  const salts = `unnest(${bind(int8Array(way.salts))}::bigint[]) as salt`
  const source = [
    `s.shard = any(${bind(shardArray(from))}::smallint[]) and s.key = any(${bind(safeInt8Array(from))}::bigint[])`,
    ...(way.from === undefined ? [] : [`s.type = ${bind(typeNumber(way.from))}::smallint`]),
  ].join(' and ')
  const target = [
    `t.type = any(${bind(int2Array(way.to))}::smallint[])`,
    // `+ 0`: the index of keys would read all that come after, to meet few of them.
    `t.key + 0 > ${bind(after)}::bigint`,
    ...seen('t', { ...binder, visibility: options.visibility }),
  ].join(' and ')
  const led = way.reverse
    ? `led as materialized (select t.key from search t where t.refs && (
        select coalesce(array_agg(s.self # salt), '{}') from search s, ${salts} where ${source}) and ${target})`
    : `named as materialized (select distinct ref # salt as self from search s, unnest(s.refs) as ref, ${salts} where ${source}),
      led as materialized (select t.key from named join search t using (self) where ${target})`
  const text = `with ${led} select distinct key from led order by key limit ${bind(most + 1)}`
  const rows = await on.query<{ key: number }>(prepared(text, binder, true))
  return rows.map(row => row.key)
}
