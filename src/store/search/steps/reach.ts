// For a caller with access to a small part of a large data set: finds that part, and searches it alone.
import { createBinder } from '../binder.ts'
import { type Page, type PageRow, pageOf, prepared } from '../page.ts'
import { reached, reachText } from '../reach.ts'
import type { Criterion, SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import type { SearchOptions } from '../sql-context.ts'
import { conditions, type PageSource, pageText } from '../statement.ts'
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
        const { context, where } = conditions(request, options)
        const orders = ordersOf(request, context)
        const source: PageSource = { from: 'found s', where: 'true', key: 's.key' }
        const text = `with found as materialized (select s.key, s.date from ${reached(request, reach, context)} s where ${where})
    ${pageText(request, context, { ...source, orders })}`
        const isFixed = request.criteria.every(
          each => isPlainToken(each) || isPlainString(each) || isClinicalDate(each, request.types[0]!),
        )
        return prepared(text, context, isFixed)
      },
      read: rows => pageOf(rows, request),
    },
  ]

const isPlainString = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.param.type === 'string' && criterion.modifier === ''
