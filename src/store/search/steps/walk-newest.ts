// Walk along the newest resources of a type and look at each, as far as that can be worth it: for words that many have.
import { prepared } from '../../../db/database.ts'
import { fullPageOf, type Page, type PageRow } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { conditions, firstRows, pageText, typeCondition } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

/** The next rows of `search` of the type, in the order of the answer from the place of the cursor on. */
export const newestRows = (request: SearchRequest, context: SqlContext, most: number): string =>
  firstRows(
    request,
    context,
    {
      ...{ rows: 's.* from search s', key: 's.key' },
      ...{ conditions: [typeCondition(request, context)], orders: ordersOf(request, context) },
    },
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
