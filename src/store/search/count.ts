// How many resources match, and may be seen.
import { preparedName } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import type { Visibility } from '../visibility.ts'
import { isNarrow, reached, reachOf } from './reach.ts'
import type { SearchRequest } from './request.ts'
import type { SearchOptions, SqlContext } from './sql-context.ts'
import { type Conditions, conditions, wideConditions } from './statement.ts'

/** Conditions, and the rows `s` that they are about. */
type Counted = Conditions & { readonly from: string }

/** The number of matches; more than a few thousand may be estimated, where the request is content with that. */
export async function countMatches(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<number> {
  const { visibility } = options
  const reach = await reachOf(on, request, options)
  if (reach || !visibility || request.criteria.some(isNarrow)) {
    const { context, where } = conditions(request, options)
    const from = reach ? `${reached(request, reach, context)} s` : 'search s'
    return count(on, request, { context, where, from })
  }
  return (await countFew(on, request, options, visibility)) ?? count(on, request, wideConditions(request, options))
}

const estimateFrom = 10_000

async function count(on: Queryable, { total }: SearchRequest, { context, from, where }: Counted): Promise<number> {
  const limit = total === 'estimate' ? ` limit ${estimateFrom + 1}` : ''
  const [row] = await on.query<{ count: number }>({
    text: `select count(*) as count from (select 1 from ${from} where ${where}${limit}) matches`,
    values: context.values,
  })
  const counted = row!.count
  return limit && counted > estimateFrom ? Math.max(counted, await estimate(on, from, where, context)) : counted
}

/** What the planner expects, good enough for "about how many". */
async function estimate(on: Queryable, from: string, where: string, context: SqlContext): Promise<number> {
  const rows = await on.query<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>({
    text: `explain (format json) select 1 from ${from} where ${where}`,
    values: context.values,
  })
  return rows[0]!['QUERY PLAN'][0]!.Plan['Plan Rows']
}

/** Most matches whose visibility is looked at one by one: from there on it is cheaper to look at all grants at once. */
const countedSingly = 500

/** How many there are, if they are few before it is asked whether they may be seen; undefined if they are many. */
async function countFew(
  on: Queryable,
  request: SearchRequest,
  options: SearchOptions,
  visibility: Visibility,
): Promise<number | undefined> {
  // What the search goes through on its way, as chains do, must be seen all the same.
  const { context, where } = conditions(request, options, 's.type', () => [])
  const isSeen = visibility.resource('s', context)
  const text = `with matches as materialized (select s.type, s.subject, s.author, s.about, s.tokens from search s where ${where}),
      first as (select * from matches limit ${context.bind(countedSingly + 1)})
    select f.found, (select count(*) from first s where f.found <= ${countedSingly} and ${isSeen}) as count
    from (select count(*) as found from first) f`
  const [row] = await on.query<{ found: number; count: number }>({
    name: preparedName(text),
    text,
    values: context.values,
  })
  return row!.found > countedSingly ? undefined : row!.count
}
