// Walk along the values of the parameter by which results are sorted, texts or magnitudes, until the page is full: for matches so many
// that sorting them all would take long.
import type { ParamKey } from '../../index/postings.ts'
import { seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { isOfSpans, type Order, ordersAfterFirst, valueOfMissing } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions } from '../sql-context.ts'
import { createContext, firstRows, type PageSource, pageText, statementOf, typeCondition } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

/** The values of a parameter, in the order of an index. */
interface Walked {
  readonly param: ParamKey
  /** The table that has them, and what decides among equal values of one resource. */
  readonly table: 'word' | 'span'
  readonly tie: 'exact' | 'ctid'
  readonly order: Order
}

/**
 * The parameter by which results are sorted, if its values can be walked in that order from the place of the cursor: behind the last
 * value are those without one, of which the tables know nothing.
 */
export function sortedValues(
  { types, sort, cursor }: SearchRequest,
  { indexer, layout }: SearchOptions,
): Walked | undefined {
  const [[type, ...otherTypes], [first, ...more]] = [types, sort]
  if (type === undefined || first === undefined || otherTypes.length > 0) return undefined
  if (more.length > 0 && layout === 'distributed') return undefined
  const { param, descending } = first
  if (indexer.columns(type).date === param.code || cursor?.values[0] === valueOfMissing(first)) return undefined
  const [key, ...others] = indexer.params.keys(type, param.code)
  if (key === undefined || others.length > 0) return undefined
  const order = { descending, usesResource: false }
  if (param.type === 'string')
    return {
      ...{ param: key, table: 'word', tie: 'exact' },
      order: { ...order, expression: 'w.folded', type: 'text collate "C"' },
    }
  if (!isOfSpans(param) || param.code === '_lastUpdated' || layout === 'distributed') return undefined
  return {
    ...{ param: key, table: 'span', tie: 'ctid' },
    order: { ...order, expression: descending ? 'w.high' : 'w.low', type: 'double precision' },
  }
}

/** Most values that are walked along before matches are sorted all at once. */
const longestWalk = 20_000

/** True for a list of all resources of a type: one index gives it, whatever the values. */
const isKept = ({ criteria }: SearchRequest): boolean => criteria.length === 0

/** Walks along the values of a parameter. The page does not fill if the rest has none at all, or lies too far along. */
export const walkValues = (
  request: SearchRequest,
  options: SearchOptions,
  { param, table, tie, order }: Walked,
): SearchStep<Page, PageRow> => ({
  name: `walk ${table === 'word' ? 'texts' : 'magnitudes'} in order${isKept(request) ? ', by a kept plan' : ''}`,
  givesUp: `the page is not full after ${longestWalk} values`,
  statement() {
    const context = createContext(request, { ...options, isWalking: true }, 's')
    const value = order.expression.slice('w.'.length)
    const orders = [order, ...ordersAfterFirst(request, context)]
    const conditions = [
      typeCondition(request, context),
      ...request.criteria.map(each => conditionOf(each, 's', context)),
      ...seen('s', context),
    ]
    const ofParam = table === 'span' ? ' and v.token = 0' : ''
    const along = `w.param = ${context.bind(param.number)}::integer${ofParam.replace('v.', 'w.')}`
    const rows = `w.key, w.shard, w.param, w.${value}, w.${tie} as place from ${table} w`
    // An engine that distributes the tables walks along the values of each node, as far as the page needs, but takes no limit before.
    const first = { rows, conditions: [along], orders: [order], key: 'w.key', hasTies: orders.length > 1 }
    const values =
      options.layout === 'distributed'
        ? `(select ${rows} where ${along})`
        : firstRows(request, context, first, longestWalk)
    const source: PageSource = {
      // Each resource stands where its first value stands, or its last in descending order; once, though it may have a value twice.
      from: `${values} w cross join lateral (
      select s.* from search s where s.shard = w.shard and s.key = w.key and ${conditions.join(' and ')}
        and not exists (select 1 from ${table} v where v.shard = s.shard and v.key = s.key and v.param = w.param${ofParam}
          and (v.${value}, v.${tie}) ${order.descending ? '>' : '<'} (w.${value}, w.place)) offset 0) s`,
      ...{ where: 'true', key: 'w.key' },
    }
    return statementOf(pageText(request, context, { ...source, orders, isAlongFirst: true }), context, isKept(request))
  },
  read: rows => fullPageOf(rows, request),
})
