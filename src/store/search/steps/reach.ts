// For a caller with access to a small part of a large data set: finds that part, and searches it alone.
import { prepared } from '../../../db/database.ts'
import { createBinder } from '../binder.ts'
import { type Page, type PageRow, pageOf } from '../page.ts'
import { boundReach, type ReachSql, reached, reachInStatement, reachText } from '../reach.ts'
import type { Criterion, SearchRequest } from '../request.ts'
import { foundRows, ordersOf } from '../sort.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { besideCount, conditions, type PageSource, pageText, statementOf } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isClinicalDate, isPlainToken } from '../walk.ts'

/** Asks what the caller may see. */
export const askReach = <Result, Row extends object>(
  request: SearchRequest,
  { visibility }: SearchOptions,
  within: NonNullable<SearchStep<Result, Row>['within']>,
): SearchStep<Result, Row> => ({
  name: 'ask what the caller may see',
  givesUp: 'the caller may see much',
  statement() {
    const binder = createBinder()
    return prepared(reachText(request, { ...binder, visibility }), binder, true)
  },
  read: () => undefined,
  within,
})

/** A page of what the caller may see: all matches among it are found, and then ordered. */
export const searchWithin =
  (request: SearchRequest, options: SearchOptions): NonNullable<SearchStep<Page, PageRow>['within']> =>
  reach => [
    {
      name: 'search what the caller may see',
      statement() {
        const made = foundWithin(request, options, context => boundReach(reach, context))
        return statementOf(`with ${made.found} ${made.page}`, made.context, isFixed(request))
      },
      read: rows => pageOf(rows, request),
    },
  ]

/** The same for a caller of whom a sketch says that it may see little: asked and searched by one statement. */
export const searchLittle = (request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> => ({
  name: 'ask what the caller may see, and search that',
  givesUp: 'the caller may see much',
  statement() {
    const { context, found, page } = foundWithin(request, options, () => reachInStatement, true)
    const text = `with reach as materialized (${reachText(request, context)}), ${found}
      ${besideCount('select count(*) as found from reach', page)}`
    return statementOf(text, context, isFixed(request))
  },
  read: rows => (rows[0]!.found === 0 ? undefined : pageOf(rows, request)),
})

/** The matches within reach, as a part of a statement, and the page of them. */
function foundWithin(
  request: SearchRequest,
  options: SearchOptions,
  reachOf: (context: SqlContext) => ReachSql,
  isNumbered = false,
) {
  // Nothing is to be passed over here.
  const { context, where } = conditions(request, { ...options, sketch: undefined, isOfFewRows: true })
  const orders = ordersOf(request, context)
  const source: PageSource = { from: foundRows(orders), where: 'true', key: 's.key' }
  const rows = reached(request, reachOf(context), context)
  return {
    context,
    found: `found as materialized (select s.shard, s.key, s.date from ${rows} s where ${where})`,
    page: pageText(request, context, { ...source, orders, isNumbered }),
  }
}

const isFixed = ({ criteria, types }: SearchRequest): boolean =>
  criteria.every(each => isPlainToken(each) || isPlainString(each) || isClinicalDate(each, types[0]!))

const isPlainString = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.param.type === 'string' && criterion.modifier === ''
