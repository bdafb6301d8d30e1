// Read the matches in the order of the answer until the page is full: what every search can be answered by.

import { likelySeen, seen } from '../../visibility.ts'
import { type Page, type PageRow, pageOf } from '../page.ts'
import { reachText } from '../reach.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import {
  conditions,
  createContext,
  type PageSource,
  pageText,
  searchRowOf,
  statementOf,
  typeCondition,
  typeOfFound,
} from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isClinicalDate, isPlainToken } from '../walk.ts'

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
    if (how.isFixed && options.visibility && isOfDates(request)) return passing(request, options)
    // Postings include the type, and one patient has few of a token: a second index for the type would only cost, though it looks
    // cheap next to checking consent.
    const isFound = how.isFixed && request.criteria.some(isPlainToken)
    const found = conditions(request, { ...options, isFound }, isFound ? typeOfFound : 's.type')
    return { ...found, from: 'search s', key: 's.key' }
  })

/** Reads what has no clinical date of a patient: it is in one place of the index of patients, types and dates. */
export const readUndated = (request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> =>
  pageStep('read what has no date, by a kept plan', request, { isFixed: true, narrowed: undefined }, () => ({
    ...conditions(request, options),
    from: 'search s',
    key: 's.key',
  }))

const isOfDates = ({ types, criteria }: SearchRequest): boolean =>
  criteria.every(each => isClinicalDate(each, types[0]!))

/** Walks along an index that says what is worth looking at, and looks at that alone. */
function passing(request: SearchRequest, options: SearchOptions): PageSource & { context: SqlContext } {
  const context = createContext(request, options, 'c')
  const isSeen = seen('s', { bind: context.bind, visibility: context.visibility })
  const from = `search c ${searchRowOf('c', isSeen)}`
  const dated = request.criteria.map(each => conditionOf(each, 's', context))
  const where = [typeCondition(request, context, 'c.type'), ...likelySeen('c', context), ...dated].join(' and ')
  return { context, from, where, key: 'c.key' }
}

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
    return statementOf(pageText(request, context, { ...source, orders, reach }), context, isFixed)
  },
  read: rows => pageOf(rows, request),
  ...(narrowed && { within: narrowed }),
})
