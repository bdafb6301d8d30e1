// Find all matches whatever their order, then sort them: for searches that may match few.
import { prepared } from '../../../db/database.ts'
import { type Page, type PageRow, pageOf } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { ordersOf } from '../sort.ts'
import type { SearchOptions } from '../sql-context.ts'
import { conditions, type PageSource, pageText } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'

interface FindOptions {
  /** True if a word must be there. */
  readonly isOfWords: boolean
  /** True if PostgreSQL keeps one plan for all values. */
  readonly isKept: boolean
}

/** Most matches that are all found before they are sorted. */
const fewest = 1000

/**
 * Finds the matches without regard to their order. The planner takes a word it has never met for a more frequent one than it is,
 * and would rather look through everything in the order of the answer than fetch what the index of words has. Without an order,
 * it takes the index.
 */
export const findAll = (
  request: SearchRequest,
  options: SearchOptions,
  { isOfWords, isKept }: FindOptions,
): SearchStep<Page, PageRow> => ({
  name: isKept ? 'find all matches by a kept plan, then sort' : 'find all matches, then sort',
  givesUp: `more than ${fewest} resources match`,
  statement() {
    // Words, strings and identifiers are those of the types already: a second index for the types would only cost, and a plan for all
    // values might even begin with it.
    const { context, where } = conditions(request, options, isOfWords || isKept ? '(s.type + 0)' : 's.type')
    const orders = ordersOf(request, context)
    const source: PageSource = { from: 'found s', where: `(select count(*) from found) <= ${fewest}`, key: 's.key' }
    const every = `select s.shard, s.key, s.date from search s where ${where}`
    const limit = `limit ${context.bind(fewest + 1)}`
    // PostgreSQL plans a materialized part as if it were read to the end, but reads only as far as the limit needs.
    const found = isOfWords
      ? `every as materialized (${every}), found as materialized (select * from every ${limit})`
      : `found as materialized (${every} ${limit})`
    const text = `with ${found}
    select f.found, page.* from (select count(*) as found from found) f left join (
      select p.*, row_number() over () as place from (${pageText(request, context, { ...source, orders })}) p
    ) page on true order by page.place`
    return prepared(text, context, isKept)
  },
  read: rows => (rows[0]!.found! > fewest ? undefined : pageOf(rows, request)),
})
