// Walk along the newest resources of a code, or of a few codes, until the page is full.
import { likelySeen, seen } from '../../visibility.ts'
import type { Page, PageRow } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { beyond, isBackward, orderBy, ordersOf } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { createContext, type PageSource, typeCondition } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { clinicalDates, isClinicalDate, mostWalked } from '../walk.ts'
import { pageStep } from './read-in-order.ts'

/**
 * Walks the table `coded`.
 * @param postings of the codes
 * @param narrowed takes over if the caller may see little
 */
export const walkCodes = (
  request: SearchRequest,
  options: SearchOptions,
  postings: readonly bigint[],
  narrowed: SearchStep<Page, PageRow>['within'],
): SearchStep<Page, PageRow> =>
  pageStep('walk codes, newest first', request, { isFixed: true, narrowed }, () => walked(request, options, postings))

// `offset 0` keeps the planner to the walk: whatever it believes of the table, it looks at one row of a code after the other.
function walked(
  request: SearchRequest,
  options: SearchOptions,
  postings: readonly bigint[],
): PageSource & { context: SqlContext } {
  const context = createContext(request, options, 'c')
  const dated = clinicalDates(request)
  const others = request.criteria.filter(each => !isClinicalDate(each, request.types[0]!))
  const inner = [
    typeCondition(request, context),
    ...others.map(each => conditionOf(each, 's', context)),
    ...seen('s', { bind: context.bind, visibility: context.visibility }),
  ].join(' and ')
  const from = `coded c cross join lateral (select s.key, s.date_high from search s where s.shard = c.shard and s.key = c.key and ${inner} offset 0) s`
  const within = [...likelySeen('c', context), ...dated.map(each => conditionOf(each, 's', context))]
  const [single, ...more] = postings
  if (more.length === 0) {
    const where = [`c.posting = ${context.bind(single)}::bigint`, ...within].join(' and ')
    return { context, from, where, key: 'c.key' }
  }
  // Each code is walked for a page of its own; a resource that has several comes once.
  const orders = ordersOf(request, context)
  if (request.cursor) within.push(beyond(request.cursor, orders, 'c.key', context))
  const order = orderBy(orders, ['c.date'], 'c.key', isBackward(request.cursor))
  const limit = context.bind(request.count + 1)
  const pages = inShape(postings).map(
    posting => `(select c.date, c.key, c.shard from ${from}
      where ${[`c.posting = ${context.bind(posting)}::bigint`, ...within].join(' and ')} ${order} limit ${limit})`,
  )
  const every = `(select distinct w.date, w.key, w.shard from (${pages.join(' union all ')}) w) c`
  return { context, from: every, where: 'true', key: 'c.key' }
}

/** How many codes a statement walks: few shapes, so that each keeps its plan. */
const shapes = [2, 5, 10, mostWalked]

/** The postings, and nulls, which find nothing, up to the next shape. */
const inShape = (postings: readonly bigint[]): readonly (bigint | null)[] => {
  const size = shapes.find(each => each >= postings.length)!
  return [...postings, ...Array.from({ length: size - postings.length }, () => null)]
}
