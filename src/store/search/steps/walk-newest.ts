// Walk along the newest resources of a type, or of several, and look at each, as far as that can be worth it: for words that many have.
import { prepared } from '../../../db/database.ts'
import { fullPageOf, type Page, type PageRow, pageOf } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { atLeastPage, conditions, firstOfTypes, pageText } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

/** The next rows of `search` of the types, in the order of the answer from the place of the cursor on. */
export const newestRows = (request: SearchRequest, context: SqlContext, most: number): string =>
  firstOfTypes(
    request,
    context,
    { rows: 's.* from search s', key: 's.key', conditions: [], orders: ordersOf(request, context) },
    's',
    most,
  )

/**
 * Looks at the newest resources. Of a word that more than a thousand have, a page is found soon, unless the type has millions: the
 * planner cannot tell, since it does not know that all that have the word are of the type.
 * @param most resources that are looked at
 */
export const walkNewest = (
  request: SearchRequest,
  options: SearchOptions,
  most: number,
): SearchStep<Page, PageRow> => ({
  name: 'look at the newest, by a kept plan',
  givesUp: `the page is not full after ${most} resources`,
  statement() {
    const { context, where } = conditions(request, { ...options, isOfFewRows: true })
    const orders = ordersOf(request, context)
    const from = `${newestRows(request, context, most)} s`
    return prepared(pageText(request, context, { from, where, key: 's.key', orders }), context, true)
  },
  read: rows => fullPageOf(rows, request),
})

/** Reads the newest of several types that a caller who sees everything asks for without criteria: those of each type, and of these the newest. */
export const readNewest = (request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> => ({
  name: 'read the newest of each type, by a kept plan',
  statement: walkNewest(request, options, atLeastPage(request)).statement,
  read: rows => pageOf(rows, request),
})
