// Walk along the texts of a string parameter in their order until the page is full: for matches so many that sorting them all
// would take long.
import { prepared } from '../../../db/database.ts'
import type { ParamKey } from '../../index/postings.ts'
import { seen } from '../../visibility.ts'
import { fullPageOf, type Page, type PageRow } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { type Order, valueOfMissing } from '../sort.ts'
import { conditionOf } from '../sql.ts'
import type { SearchOptions } from '../sql-context.ts'
import { createContext, firstRows, type PageSource, pageText, typeCondition } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

/** The string parameter by which results are sorted, if its texts can be walked in that order from the place of the cursor. */
export function sortedTexts({ types, sort, cursor }: SearchRequest, { indexer }: SearchOptions): ParamKey | undefined {
  const [first, ...more] = sort
  if (types.length > 1 || more.length > 0 || first?.param.type !== 'string') return undefined
  const [key, ...others] = indexer.params.keys(types[0]!, first.param.code)
  return others.length > 0 || cursor?.values[0] === valueOfMissing(first.descending) ? undefined : key
}

/** Most texts that are walked along before matches are sorted all at once. */
const longestWalk = 20_000

/** True for a list of all resources of a type: one index gives it, whatever the values. */
const isKept = ({ criteria }: SearchRequest): boolean => criteria.length === 0

/** Walks along the texts of a parameter. The page does not fill if the rest has no text at all, or lies too far along. */
export const walkTexts = (
  request: SearchRequest,
  options: SearchOptions,
  param: ParamKey,
): SearchStep<Page, PageRow> => ({
  name: isKept(request) ? 'walk texts in order, by a kept plan' : 'walk texts in order',
  givesUp: `the page is not full after ${longestWalk} texts`,
  statement() {
    const context = createContext(request, options, 's')
    const { descending } = request.sort[0]!
    const orders: Order[] = [{ expression: 'w.folded', type: 'text collate "C"', descending, usesResource: false }]
    const conditions = [
      typeCondition(request, context),
      ...request.criteria.map(each => conditionOf(each, 's', context)),
      ...seen('s', context),
    ]
    const along = `w.param = ${context.bind(param.number)}::integer`
    const rows = 'w.key, w.shard, w.folded, w.exact, w.param from word w'
    // An engine that distributes the tables walks along the texts of each node, as far as the page needs, but takes no limit before.
    const [texts, where] =
      options.layout === 'distributed'
        ? ['word w', along]
        : [`${firstRows(request, context, { rows, conditions: [along], orders, key: 'w.key' }, longestWalk)} w`, 'true']
    const source: PageSource = {
      // Each resource stands where its first text stands, or its last in descending order.
      from: `${texts} cross join lateral (
      select s.key from search s where s.shard = w.shard and s.key = w.key and ${conditions.join(' and ')}
        and not exists (select 1 from word v where v.shard = s.shard and v.key = s.key and v.param = w.param
          and (v.folded, v.exact) ${descending ? '>' : '<'} (w.folded, w.exact)) offset 0) s`,
      where,
      key: 'w.key',
    }
    return prepared(pageText(request, context, { ...source, orders }), context, isKept(request))
  },
  read: rows => fullPageOf(rows, request),
})
