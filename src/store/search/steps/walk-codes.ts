// Walk along the newest resources of a code, or of a few codes, until the page is full.
import { likelySeen, seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { beyond, isBackward, orderBy, ordersOf } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions, SqlContext } from '../sql-context.ts'
import { createContext, firstRows, type PageSource, searchRowOf, typeCondition } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { clinicalDates, isClinicalDate, mostWalked } from '../walk.ts'
import { pageStep } from './read-in-order.ts'

interface CodeWalk {
  /** Postings. */
  readonly codes: readonly bigint[]
  /** Takes over if the caller may see little. */
  readonly narrowed: SearchStep<Page, PageRow>['within']
  /** Most resources of a code that are looked at; absent: all. */
  readonly most?: number | undefined
}

/** Walks the table `coded`. */
export function walkCodes(request: SearchRequest, options: SearchOptions, how: CodeWalk): SearchStep<Page, PageRow> {
  const { narrowed, most } = how
  const step = pageStep('walk codes, newest first', request, { isFixed: true, narrowed }, () =>
    walked(request, options, how),
  )
  if (most === undefined) return step
  return {
    ...step,
    name: 'look at the newest of codes',
    givesUp: `the page is not full after ${most} resources of a code`,
    read: rows => fullPageOf(rows, request),
  }
}

/** A walk to which `searchRowOf` keeps the planner: whatever it believes of the table, it looks at one row of a code after the other. */
function walked(
  request: SearchRequest,
  given: SearchOptions,
  { codes, most }: CodeWalk,
): PageSource & { context: SqlContext } {
  const options = most === undefined ? given : { ...given, isOfFewRows: true }
  const context = createContext(request, options, 'c')
  const dated = clinicalDates(request)
  const others = request.criteria.filter(each => !isClinicalDate(each, request.types[0]!))
  const inner = [
    typeCondition(request, context),
    ...others.map(each => conditionOf(each, 's', context)),
    ...seen('s', { bind: context.bind, visibility: context.visibility }),
  ]
  const orders = ordersOf(request, context)
  const within = [...likelySeen('c', context), ...dated.map(each => conditionOf(each, 's', context))]
  const along = (posting: bigint | null): Pick<PageSource, 'from' | 'where'> => {
    const conditions = [`c.posting = ${context.bind(posting)}::bigint`, ...within]
    if (most === undefined) return { from: `coded c ${searchRowOf('c', inner)}`, where: conditions.join(' and ') }
    const rows = `c.date, c.key, c.shard from coded c ${dated.length > 0 ? searchRowOf('c', []) : ''}`
    const first = firstRows(request, context, { rows, conditions, orders, key: 'c.key' }, most)
    return { from: `${first} c ${searchRowOf('c', inner)}`, where: 'true' }
  }
  const [single, ...more] = codes
  if (more.length === 0) return { context, ...along(single!), key: 'c.key' }
  // Each code is walked for a page of its own; a resource that has several comes once.
  if (request.cursor) within.push(beyond(request.cursor, orders, 'c.key', context))
  const order = orderBy(orders, ['c.date'], 'c.key', isBackward(request.cursor))
  const limit = context.bind(request.count + 1)
  const pages = inShape(codes).map(posting => {
    const { from, where } = along(posting)
    return `(select c.date, c.key, c.shard from ${from} where ${where} ${order} limit ${limit})`
  })
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
