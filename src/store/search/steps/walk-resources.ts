// Walk along the resources of a type, or of several, until the page is full: in the order of the last change, for clients that follow what changes, or of
// ids, for clients that read a whole type page by page.
import { seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow, pageOf } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { ordersAfterFirst, ordersOf } from '../sort.ts'
import { conditionOf, updatedCondition } from '../sql.ts'
import type { SearchOptions } from '../sql-context.ts'
import { atLeastPage, createContext, firstOfTypes, pageText, searchRowOf, statementOf } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isClinicalDate, isOfUpdate, isPlainToken } from '../walk.ts'

/**
 * True for a search in the order of the last change or of ids, whatever decides among equals of one type, that asks for nothing but tokens, clinical
 * dates, and, in the order of the last change, when that was.
 */
export function isInOrderOfResources({ types, sort: [first, ...others], criteria }: SearchRequest): boolean {
  const isOfChanges = first?.param.code === '_lastUpdated'
  if ((others.length > 0 && types.length > 1) || (!isOfChanges && first?.param.code !== '_id')) return false
  return criteria.every(
    each => (isOfChanges && isOfUpdate(each)) || isPlainToken(each) || types.every(type => isClinicalDate(each, type)),
  )
}

/** The most resources that a walk reads: where few may match, and where a further key decides among resources that changed at one time. */
const longestWalk = { ofFew: 1000, ofEquals: 20_000 }

/**
 * Reads the rows of `resource` or, for ids, of `directory`, in the order of their index. The planner believes that few of these rows and of those
 * of `search` belong together, and would sort the whole type.
 */
export function walkResources(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> {
  const others = request.criteria.filter(each => !isOfUpdate(each))
  const [key, ...more] = request.sort
  const isOfIds = key!.param.code === '_id'
  const isSelective = others.length > 0
  const hasTies = more.length > 0
  const most = hasTies ? longestWalk.ofEquals : isSelective ? longestWalk.ofFew : atLeastPage(request)
  const mayGiveUp = isSelective || hasTies
  const givesUp = `the page is not full after ${most} resources`
  return {
    name: `walk along the ${isOfIds ? 'ids' : 'last changes'}, by a kept plan`,
    ...(mayGiveUp && { givesUp }),
    statement() {
      const context = createContext(request, options, 's')
      const orders = ordersOf({ types: request.types, sort: [key!] }, context).map(order => ({
        ...order,
        usesResource: false,
      }))
      const conditions = request.criteria.filter(isOfUpdate).map(each => updatedCondition(each, context))
      const met = [...others.map(each => conditionOf(each, 's', context)), ...seen('s', context)]
      const table = isOfIds ? 'directory' : 'resource'
      // The directory has what was deleted as well. A caller that may see little is asked for that before.
      const isFiltered = !isSelective && (isOfIds || options.visibility !== undefined)
      const rows = `u.shard, u.key, ${orders[0]!.expression} from ${table} u ${isFiltered ? searchRowOf('u', met) : ''}`
      const first = firstOfTypes(request, context, { rows, conditions, orders, key: 'u.key', hasTies }, 'u', most)
      const walked = orders.map(order => ({ ...order, expression: order.expression.replace('u.', 'w.') }))
      const from = `${first} w ${mayGiveUp ? searchRowOf('w', isSelective ? met : []) : ''}`
      const page = { from, where: 'true', key: 'w.key', isAlongFirst: true }
      const all = [...walked, ...ordersAfterFirst(request, context)]
      return statementOf(pageText(request, context, { ...page, orders: all }), context, true)
    },
    read: rows => (mayGiveUp ? fullPageOf(rows, request) : pageOf(rows, request)),
  }
}
