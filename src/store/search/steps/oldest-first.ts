// Read the oldest of a type first, such as the next appointments from today on.
import { noDate } from '../../index/draft.ts'
import type { Indexer } from '../../index/entry.ts'
import { typeNumber } from '../../type-number.ts'
import { seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow } from '../page.ts'
import { lasts } from '../ranges.ts'
import type { SearchRequest } from '../request.ts'
import { isBackward, type Order, undatedPlace } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions } from '../sql-context.ts'
import { createContext, firstRows, pageText, statementOf, typeCondition } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { prefixOf, queryDate } from '../values.ts'
import { clinicalDates, isOfDatesAndTokens, isOldestFirst, isPlainToken } from '../walk.ts'

/** Most resources that are looked at for tokens that few may have. */
const longestWalk = 1000

/**
 * True if resources with a date are the first of the answer, the oldest before the others: by tokens and single dates alone, none of them approximate. On the way back
 * from those without a date it is not.
 */
export const beginsWithOldest = (request: SearchRequest, indexer: Indexer): boolean =>
  isOldestFirst(request, indexer) &&
  isOfDatesAndTokens(request) &&
  !clinicalDates(request).some(({ values: [value] }) => prefixOf(value!) === 'ap') &&
  !(isBackward(request.cursor) && request.cursor!.values[0] === undatedPlace)

/**
 * Walks along the dates, where the order of the answer, which has those without a date at its end, has no index. What began long before a date from
 * which on is asked, and lasts, would come first: if there is any, the page stays empty.
 */
export const oldestFirst = (request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> => ({
  name: 'read along the dates, oldest first, by a kept plan',
  givesUp: `the page is not full after ${longestWalk} resources, or something that began before the dates lasts`,
  statement() {
    const context = createContext(request, { ...options, reaching: 'recent' }, 's')
    const [type] = request.types
    const orders: Order[] = [{ expression: 's.date', type: 'bigint', descending: false, usesResource: false }]
    const dates = clinicalDates(request)
    const begins = dates.flatMap(({ param, values: [value] }) => {
      const { prefix, interval } = queryDate(param.code, value!)
      return prefix === 'gt' ? interval.high : prefix === 'ge' ? interval.low : []
    })
    const conditions = [
      typeCondition(request, context),
      `s.date > ${noDate}`,
      ...dates.map(each => conditionOf(each, 's', context)),
      ...begins.map(begin => `not ${lasts(typeNumber(type!), begin, context)}`),
    ]
    const met = [
      ...request.criteria.filter(isPlainToken).map(each => conditionOf(each, 's', context)),
      ...seen('s', context),
    ]
    const first = { rows: 's.* from search s', conditions, orders, key: 's.key' }
    const source =
      met.length === 0
        ? { from: 'search s', where: conditions.join(' and ') }
        : { from: `${firstRows(request, context, first, longestWalk)} s`, where: met.join(' and ') }
    return statementOf(pageText(request, context, { ...source, key: 's.key', orders }), context, true)
  },
  read: rows => fullPageOf(rows, request),
})
