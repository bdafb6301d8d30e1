// Everything that includes lead to from some matches, to any depth, as one statement that works with row numbers: it fetches only
// one page of bodies, and follows no resource twice.

import { int2Array, int8Array, safeInt8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { shardArray } from '../index/shard.ts'
import { typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { type Binder, createBinder } from './binder.ts'
import { type HitRow, hitColumns } from './hit.ts'
import { type Way, wayOf } from './include.ts'
import type { Include } from './request.ts'
import type { SearchOptions } from './sql-context.ts'

/** Most resources that the includes of one match may lead to, in pages of included resources. */
const mostPages = 100

/** Where includes start, and by what they lead on. */
export interface Start {
  readonly includes: readonly Include[]
  /** Row numbers of the matches. */
  readonly keys: readonly number[]
}

/** True if everything that is included with the matches fits a page. */
export async function fitsPage(on: Queryable, start: Start, options: SearchOptions): Promise<boolean> {
  const binder = createBinder()
  const text = `${reached(start, options, binder)}
    select count(*) as found from (select 1 from reached where not is_match limit ${binder.bind(options.maxIncluded + 1)}) counted`
  const [row] = await on.query<{ found: number }>({ text, values: binder.values })
  return row!.found <= options.maxIncluded
}

/**
 * Returns a page of what is included with the matches, in the order of row numbers after `after`, and one more if there is one.
 * @throws Failure MALFORMED_REQUEST if `:iterate` leads to more than pages can return.
 */
export function reachable(
  on: Queryable,
  start: Start,
  after: number,
  options: SearchOptions,
): Promise<readonly HitRow[]> {
  return start.includes.some(each => each.iterate)
    ? reachableByAndBy(on, start, after, options)
    : reachableAtOnce(on, start, after, options)
}

/** What the matches themselves lead to, of any number: the statement looks only for what comes after `after`. */
async function reachableAtOnce(
  on: Queryable,
  start: Start,
  after: number,
  options: SearchOptions,
): Promise<readonly HitRow[]> {
  const binder = createBinder()
  const { bind } = binder
  const beyond = [`t.key > ${bind(after)}::bigint`]
  const steps = waysOf(start, options).map(way => step(way, options, binder, beyond))
  if (steps.length === 0) return []
  const matches = bind(safeInt8Array(start.keys))
  const among = `shard = any(${bind(shardArray(start.keys))}::smallint[]) and key = any(${matches}::bigint[])`
  const text = `with page as materialized (
      select distinct n.key, n.shard from (select key, shard, self, type, true as is_match from search where ${among}) f
        cross join lateral (${steps.join(' union all ')}) n
      where n.key <> all(${matches}::bigint[]) order by n.key limit ${bind(options.maxIncluded + 1)})
    select ${hitColumns} from page join resource r using (shard, key) order by r.key`
  return on.query<HitRow>({ text, values: binder.values })
}

/** What the matches lead to by several steps: all of it is worked out for each page, so it is bounded. */
async function reachableByAndBy(
  on: Queryable,
  start: Start,
  after: number,
  options: SearchOptions,
): Promise<readonly HitRow[]> {
  const binder = createBinder()
  const { bind } = binder
  const most = options.maxIncluded * mostPages
  const text = `${reached(start, options, binder)},
      every as materialized (select key, shard from reached where not is_match limit ${bind(most + 1)}),
      page as materialized (select key, shard from every where key > ${bind(after)}::bigint order by key limit ${bind(options.maxIncluded + 1)})
    select ${hitColumns}, (select count(*) from every) as reached from page join resource r using (shard, key) order by r.key`
  const rows = await on.query<HitRow & { reached: number }>({ text, values: binder.values })
  if (rows[0] && rows[0].reached > most) throw tooMany(most)
  return rows
}

function tooMany(most: number): Failure {
  const message = `The includes of a match lead to more than ${most} resources: remove :iterate, or search for these resources directly.`
  return new Failure('MALFORMED_REQUEST', message, {
    issue: 'too-costly',
    details: [{ field: '_include', code: 'too-costly', message }],
  })
}

const waysOf = ({ includes }: Start, options: SearchOptions): Way[] =>
  includes.map(each => wayOf(each, options)).filter(way => way !== undefined)

/** The rows `reached` as the beginning of a statement: the matches, and once each what the includes lead to. */
function reached(start: Start, options: SearchOptions, binder: Binder): string {
  const matches = binder.bind(safeInt8Array(start.keys))
  const among = `s.shard = any(${binder.bind(shardArray(start.keys))}::smallint[]) and s.key = any(${matches}::bigint[])`
  const steps = waysOf(start, options).map(way => step(way, options, binder))
  const next =
    steps.length === 0
      ? ''
      : `union select n.key, n.shard, n.self, n.type, false from reached f cross join lateral (${steps.join(' union all ')}) n
        where n.key <> all(${matches}::bigint[])`
  return `with recursive reached(key, shard, self, type, is_match) as (
      select s.key, s.shard, s.self, s.type, true from search s where ${among} ${next})`
}

// `offset 0` keeps the planner to one look-up for each resource: it knows nothing of how many a step begins with.
function step(
  { reverse, iterate, from, salts, to }: Way,
  options: SearchOptions,
  binder: Binder,
  more: readonly string[] = [],
): string {
  const { bind } = binder
  const within = bind(int8Array(salts))
  const conditions = [
    `t.type = any(${bind(int2Array(to))}::smallint[])`,
    ...(from === undefined ? [] : [`f.type = ${bind(typeNumber(from))}::smallint`]),
    ...(iterate ? [] : ['f.is_match']),
    ...more,
    ...seen('t', { ...binder, visibility: options.visibility }),
  ].join(' and ')
  const text = reverse
    ? `select t.key, t.shard, t.self, t.type from search t
        where t.refs && array(select f.self # salt from unnest(${within}::bigint[]) as salt) and ${conditions}`
    : `select t.key, t.shard, t.self, t.type from search s, unnest(s.refs) as ref, unnest(${within}::bigint[]) as salt
        cross join lateral (select * from search o where o.self = ref # salt offset 0) t
        where s.shard = f.shard and s.key = f.key and ${conditions}`
  return `(${text} offset 0)`
}
