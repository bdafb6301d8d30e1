// Walk along the resources of a type, or of several, until the page is full: in the order of the last change, for clients that follow what changes, or of
// ids, for clients that read a whole type page by page.
import { seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow, pageOf } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import { conditionOf, updatedCondition } from '../sql.ts'
import type { SearchOptions } from '../sql-context.ts'
import { atLeastPage, createContext, firstOfTypes, pageText, searchRowOf, statementOf } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isClinicalDate, isOfUpdate, isPlainToken } from '../walk.ts'

/**
 * True for a search in the order of the last change or of ids that asks for nothing but tokens, clinical dates, and, in the
 * order of the last change, when that was.
 */
export function isInOrderOfResources({ types, sort: [first, ...others], criteria }: SearchRequest): boolean {
  const isOfChanges = first?.param.code === '_lastUpdated'
  if (others.length > 0 || (!isOfChanges && first?.param.code !== '_id')) return false
  return criteria.every(
    each => (isOfChanges && isOfUpdate(each)) || isPlainToken(each) || types.every(type => isClinicalDate(each, type)),
  )
}

/** Most resources that are looked at where few may match. */
const longestWalk = 1000

/**
 * Reads the rows of `resource` or, for ids, of `directory`, in the order of their index. The planner believes that few of these rows and of those
 * of `search` belong together, and would sort the whole type.
 */
export function walkResources(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> {
  const others = request.criteria.filter(each => !isOfUpdate(each))
  const isOfIds = request.sort[0]!.param.code === '_id'
  const isSelective = others.length > 0
  const givesUp = `the page is not full after ${longestWalk} resources`
  return {
    name: `walk along the ${isOfIds ? 'ids' : 'last changes'}, by a kept plan`,
    ...(isSelective && { givesUp }),
    statement() {
      const context = createContext(request, options, 's')
      const orders = ordersOf(request, context).map(order => ({ ...order, usesResource: false }))
      const conditions = request.criteria.filter(isOfUpdate).map(each => updatedCondition(each, context))
      const met = [...others.map(each => conditionOf(each, 's', context)), ...seen('s', context)]
      const table = isOfIds ? 'directory' : 'resource'
      const stored = searchRowOf('u', met)
      // The directory has what was deleted as well. A caller that may see little is asked for that before.
      const isFiltered = isOfIds || options.visibility !== undefined
      const rows = `u.shard, u.key, ${orders[0]!.expression} from ${table} u ${isFiltered && !isSelective ? stored : ''}`
      const most = isSelective ? longestWalk : atLeastPage(request)
      const first = firstOfTypes(request, context, { rows, conditions, orders, key: 'u.key' }, 'u', most)
      const from = `${first} u ${isSelective ? stored : ''}`
      return statementOf(pageText(request, context, { from, where: 'true', key: 'u.key', orders }), context, true)
    },
    read: rows => (isSelective ? fullPageOf(rows, request) : pageOf(rows, request)),
  }
}
