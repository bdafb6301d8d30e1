// Find the texts of a parameter first, then what has one of them and meets the rest, and sort it: for names and other strings, which few
// or very many resources may have.
import { prepared } from '../../../db/database.ts'
import { type Page, type PageRow, pageOf } from '../page.ts'
import type { ParamCriterion, SearchRequest } from '../request.ts'
import { beyond, foundRows, ordersOf } from '../sort.ts'
import type { SearchOptions } from '../sql-context.ts'
import { wordOf } from '../sql-words.ts'
import { conditions, type PageSource, pageText } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

/** Most texts that are found, and most matches, before they are sorted. */
const [mostTexts, mostMatches] = [3000, 1000]

/**
 * Looks at each resource that has one of the texts. The planner, which does not know how many that are, would collect all of them before it
 * looks at the first. `offset 0` as in walk-codes.ts.
 */
export const findByText = (
  request: SearchRequest,
  options: SearchOptions,
  text: ParamCriterion,
): SearchStep<Page, PageRow> => ({
  name: 'find texts and what has them by a kept plan, then sort',
  givesUp: `more than ${mostTexts} texts or ${mostMatches} resources match`,
  statement() {
    const others = request.criteria.filter(each => each !== text)
    const asked = { types: request.types, criteria: others }
    const { context, where } = conditions(asked, { ...options, isOfFewRows: true }, '(s.type + 0)')
    const orders = ordersOf(request, context)
    const isOfColumns = orders.every(each => !each.usesResource && !each.usesNarrow)
    const place = request.cursor && isOfColumns ? ` and ${beyond(request.cursor, orders, 's.key', context)}` : ''
    const isMuch = `(select count(*) from texts) > ${mostTexts}`
    const source: PageSource = {
      from: foundRows(orders),
      where: `(select count(*) from found) <= ${mostMatches}`,
      key: 's.key',
    }
    const statement = `with texts as materialized (
        select v.shard, v.key from word v where ${wordOf(text, context)} limit ${mostTexts + 1}
      ), found as materialized (
        select s.shard, s.key, s.date from (select distinct t.shard, t.key from texts t where not ${isMuch}) t cross join lateral (
          select s.shard, s.key, s.date from search s where s.shard = t.shard and s.key = t.key and ${where}${place} offset 0) s
        limit ${mostMatches + 1}
      )
      select f.found, page.* from (select case when ${isMuch} then ${mostMatches + 1} else count(*)::integer end as found from found) f
      left join (${pageText(request, context, { ...source, orders, isNumbered: true })}) page on true order by page.place`
    return prepared(statement, context, true)
  },
  read: rows => (rows[0]!.found! > mostMatches ? undefined : pageOf(rows, request)),
})
