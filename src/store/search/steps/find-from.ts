// Find what one criterion names first, then look at each of these resources for the rest, and sort: where the planner, which does not know
// how many that are, would collect or join all of them.
import { typeArray } from '../binder.ts'
import { type Page, type PageRow, pageOf } from '../page.ts'
import type { Criterion, ParamCriterion, SearchRequest } from '../request.ts'
import { foundRows, ordersOf } from '../sort.ts'
import { updatedCondition } from '../sql.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { wordOf } from '../sql-words.ts'
import {
  besideCount,
  conditions,
  onward,
  type PageSource,
  pageText,
  searchRowOf,
  statementOf,
  typeOfFound,
} from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isOfUpdate } from '../walk.ts'
import { mostSorted } from './find-all.ts'

/** What a search is begun with. */
export interface Beginning {
  readonly name: string
  /** What remains to be looked for. */
  readonly others: readonly Criterion[]
  /** Selects the columns shard and key of what is named, of some more types maybe, and some more than once. */
  readonly rows: (context: SqlContext) => string
}

/** Begins with the texts that a criterion of strings names. */
export const fromText = ({ criteria }: SearchRequest, text: ParamCriterion): Beginning => ({
  name: 'texts',
  others: criteria.filter(each => each !== text),
  rows: context => `select v.shard, v.key from word v where ${wordOf(text, context)}`,
})

/** Begins with what changed at some time; undefined if the search does not say when. */
export function fromChanges({ types, criteria }: SearchRequest): Beginning | undefined {
  const times = criteria.filter(isOfUpdate)
  if (times.length === 0) return undefined
  return {
    name: 'changes',
    others: criteria.filter(each => !isOfUpdate(each)),
    rows: context =>
      // In the order of the index, which a plan for any moment might otherwise think dearer than reading the table.
      `select u.shard, u.key from unnest(${typeArray(types, context)}) of(type) cross join lateral (
          select u.shard, u.key from resource u where u.type = of.type and ${times.map(each => updatedCondition(each, context)).join(' and ')}
          order by u.updated_at desc, u.key desc) u`,
  }
}

/** Most that a search begins with. */
const mostNamed = 3000

/** Looks at each resource that the search begins with. */
export const findFrom = (
  request: SearchRequest,
  options: SearchOptions,
  { name, others, rows }: Beginning,
): SearchStep<Page, PageRow> => ({
  name: `find ${name} and what they belong to by a kept plan, then sort`,
  givesUp: `more than ${mostNamed} ${name} or ${mostSorted} resources match`,
  statement() {
    const asked = { types: request.types, criteria: others }
    const { context, where } = conditions(asked, { ...options, isOfFewRows: true }, typeOfFound)
    const orders = ordersOf(request, context)
    const isMuch = `(select count(*) from named) > ${mostNamed}`
    const source: PageSource = {
      from: foundRows(orders),
      where: `(select count(*) from found) <= ${mostSorted}`,
      key: 's.key',
    }
    const counted = `select case when ${isMuch} then ${mostSorted + 1} else count(*)::integer end as found from found`
    const statement = `with named as materialized (${rows(context)} limit ${mostNamed + 1}), found as materialized (
        select s.shard, s.key, s.date from (select distinct n.shard, n.key from named n where not ${isMuch}) n
          ${searchRowOf('n', [`${where}${onward(request, orders, context)}`])}
        limit ${mostSorted + 1}
      ) ${besideCount(counted, pageText(request, context, { ...source, orders, isNumbered: true }))}`
    return statementOf(statement, context, true)
  },
  read: rows => (rows[0]!.found! > mostSorted ? undefined : pageOf(rows, request)),
})
