// Walk along the last changes of a type until the page is full: for clients that follow what changes.
import { prepared } from '../../../db/database.ts'
import { typeNumber } from '../../type-number.ts'
import { seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow, pageOf } from '../page.ts'
import type { Criterion, ParamCriterion, SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import { conditionOf, updatedCondition } from '../sql.ts'
import type { SearchOptions } from '../sql-context.ts'
import { createContext, firstRows, pageText } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { isClinicalDate, isPlainToken } from '../walk.ts'

/** True for a search of one type in the order of the last change that asks for nothing but tokens, clinical dates, and when that change was. */
export const isOfChanges = ({ types: [type, ...others], sort, criteria }: SearchRequest): boolean =>
  others.length === 0 &&
  sort.length === 1 &&
  sort[0]!.param.code === '_lastUpdated' &&
  criteria.every(each => isOfUpdate(each) || isPlainToken(each) || isClinicalDate(each, type!))

const isOfUpdate = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' && criterion.param.code === '_lastUpdated' && criterion.modifier === ''

/** Most changes that are looked at where few may match, or few of them may be seen. */
const longestWalk = 1000

/**
 * Reads the rows of `resource` in the order of their index. The planner believes that few rows of `resource` and `search` belong together, and would
 * sort the whole type. `offset 0` as in walk-codes.ts.
 */
export function walkChanges(request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> {
  const others = request.criteria.filter(each => !isOfUpdate(each))
  const isSelective = others.length > 0 || options.visibility !== undefined
  const givesUp = `the page is not full after ${longestWalk} changes`
  return {
    name: 'walk along the last changes, by a kept plan',
    ...(isSelective && { givesUp }),
    statement() {
      const context = createContext(request, options, 's')
      const orders = ordersOf(request, context).map(order => ({ ...order, usesResource: false }))
      const changed = [
        `u.type = ${context.bind(typeNumber(request.types[0]!))}::smallint`,
        ...request.criteria.filter(isOfUpdate).map(each => updatedCondition(each, context)),
      ]
      const met = [...others.map(each => conditionOf(each, 's', context)), ...seen('s', context)]
      const first = { rows: 'u.shard, u.key, u.updated_at from resource u', conditions: changed, orders, key: 'u.key' }
      const looked = (): string => `${firstRows(request, context, first, longestWalk)} u cross join lateral (
          select s.key from search s where s.shard = u.shard and s.key = u.key and ${met.join(' and ')} offset 0) s`
      const source = isSelective
        ? { from: looked(), where: 'true' }
        : { from: 'resource u', where: changed.join(' and ') }
      return prepared(pageText(request, context, { ...source, key: 'u.key', orders }), context, true)
    },
    read: rows => (isSelective ? fullPageOf(rows, request) : pageOf(rows, request)),
  }
}
