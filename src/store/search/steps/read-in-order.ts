// Read the matches in the order of the answer until the page is full: what every search can be answered by.
import { type Page, type PageRow, pageOf, prepared } from '../page.ts'
import { reachText } from '../reach.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { conditions, type PageSource, pageText } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isPlainToken } from '../walk.ts'

export interface ReadOptions {
  /** True if PostgreSQL keeps one plan for all values. */
  readonly isFixed: boolean
  /** Takes over if the caller may see little; the statement checks that, too. */
  readonly narrowed: SearchStep<Page, PageRow>['within'] | undefined
}

/** Reads the rows of `search` in the order of the answer. */
export const readInOrder = (
  request: SearchRequest,
  options: SearchOptions,
  how: ReadOptions,
): SearchStep<Page, PageRow> =>
  pageStep(how.isFixed ? 'read in order, by a kept plan' : 'read in order', request, how, () => {
    // Postings include the type, and one patient has few of a token: a second index for the type would only cost, though it looks
    // cheap next to checking consent.
    const isFound = how.isFixed && request.criteria.some(isPlainToken)
    return { ...conditions(request, options, isFound ? '(s.type + 0)' : 's.type'), from: 'search s', key: 's.key' }
  })

/** Reads a page from a source, and what the caller may see, if that is little. */
export const pageStep = (
  name: string,
  request: SearchRequest,
  { isFixed, narrowed }: ReadOptions,
  sourceOf: () => PageSource & { readonly context: SqlContext },
): SearchStep<Page, PageRow> => ({
  name,
  statement() {
    const { context, ...source } = sourceOf()
    const orders = ordersOf(request, context)
    const reach = narrowed && reachText(request, context)
    return prepared(pageText(request, context, { ...source, orders, reach }), context, isFixed)
  },
  read: rows => pageOf(rows, request),
  ...(narrowed && { within: narrowed }),
})
