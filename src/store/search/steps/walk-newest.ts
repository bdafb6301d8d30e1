// Walk along the newest resources of a type, or of several, and look at each, as far as that can be worth it: for words that many have.
import { likelySeen, seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow, pageOf } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import {
  atLeastPage,
  conditions,
  createContext,
  firstOfTypes,
  pageText,
  searchRowOf,
  statementOf,
} from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

/** The next rows of `search` of the types, in the order of the answer from the place of the cursor on. Of several types, the index alone says which. */
export function newestRows(request: SearchRequest, context: SqlContext, most: number): string {
  const orders = ordersOf(request, context)
  const first = (columns: string): string =>
    firstOfTypes(
      request,
      context,
      { rows: `${columns} from search s`, key: 's.key', conditions: [], orders },
      's',
      most,
    )
  if (request.types.length === 1) return first('s.*')
  return `(select s.* from ${first('s.shard, s.key, s.date')} n ${searchRowOf('n', [])})`
}

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
    return statementOf(pageText(request, context, { from, where, key: 's.key', orders }), context, true)
  },
  read: rows => fullPageOf(rows, request),
})

/** Reads the newest of several types, up to a date maybe: as many of each as a page has, and of these the newest. */
export const readNewest = (request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> => ({
  name: 'read the newest of each type, by a kept plan',
  statement() {
    const context = createContext(request, options, 'c')
    const orders = ordersOf(request, context)
    const isSeen = seen('s', { bind: context.bind, visibility: context.visibility })
    const dated = request.criteria.map(each => conditionOf(each, 's', context))
    const row = isSeen.length + dated.length === 0 ? '' : searchRowOf('c', isSeen)
    const rows = `c.shard, c.key, c.date from search c ${row}`
    const first = { rows, key: 'c.key', conditions: [...likelySeen('c', context), ...dated], orders }
    const from = `${firstOfTypes(request, context, first, 'c', atLeastPage(request))} c`
    return statementOf(pageText(request, context, { from, where: 'true', key: 'c.key', orders }), context, true)
  },
  read: rows => pageOf(rows, request),
})
