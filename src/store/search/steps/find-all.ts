// Find all matches whatever their order, then sort them: for searches that may match few.
import { type Page, type PageRow, pageOf } from '../page.ts'
import type { SearchRequest } from '../request.ts'
import { foundRows, isBackward, orderBy, ordersOf } from '../sort.ts'
import type { SearchOptions } from '../sql-context.ts'
import { besideCount, conditions, onward, type PageSource, pageText, statementOf, typeOfFound } from '../statement.ts'
import type { SearchStep } from '../strategy.ts'
import { newestRows } from './walk-newest.ts'

/** Absent: false. */
interface FindOptions {
  /** True if a word must be there. */
  readonly isOfWords?: boolean
  /** True if PostgreSQL keeps one plan for all values. */
  readonly isKept?: boolean
  /** True if postings or hashes of resources find the matches, whatever their type. */
  readonly isOfAnyType?: boolean
  /** True if the newest resources of the type are the first of the answer: then a few of them are looked at before. */
  readonly isNewestFirst?: boolean
}

/** Most matches that are all found before they are sorted. */
export const mostSorted = 1000

/** Resources that are looked at before: a word that a fifth of a type have fills a page with them. */
const fewNewest = 100

/**
 * Finds the matches without regard to their order. The planner takes a word it has never met for a more frequent one than it is,
 * and would rather look through everything in the order of the answer than fetch what the index of words has. Without an order,
 * it takes the index. Words that very many have are found before that, among the newest.
 */
export const findAll = (
  request: SearchRequest,
  options: SearchOptions,
  { isOfWords = false, isKept = false, isOfAnyType = false, isNewestFirst = false }: FindOptions = {},
): SearchStep<Page, PageRow> => ({
  name: isKept ? 'find all matches by a kept plan, then sort' : 'find all matches, then sort',
  givesUp: `more than ${mostSorted} resources match`,
  statement() {
    // Words, strings and identifiers are those of the types already: a second index for the types would only cost, and a plan for all
    // values might even begin with it.
    const isFound = isOfWords || isKept || isOfAnyType
    const { context, where } = conditions(request, options, isFound ? typeOfFound : 's.type')
    const orders = ordersOf(request, context)
    const isFull = isNewestFirst ? `(select count(*) from newest) > ${context.bind(request.count)}` : 'false'
    const newest = isNewestFirst
      ? `newest as materialized (select s.shard, s.key, s.date from ${newestRows(request, context, fewNewest)} s where ${where}
        ${orderBy(orders, ['s.date'], 's.key', isBackward(request.cursor))} limit ${context.bind(request.count + 1)}), `
      : ''
    const from = isNewestFirst
      ? `(select * from found union all select * from newest where ${isFull}) s`
      : foundRows(orders)
    const source: PageSource = { from, where: `(select count(*) from found) <= ${mostSorted}`, key: 's.key' }
    const every = `select s.shard, s.key, s.date from search s where ${where}${onward(request, orders, context)}${isNewestFirst ? ` and not ${isFull}` : ''}`
    const limit = `limit ${context.bind(mostSorted + 1)}`
    // PostgreSQL plans a materialized part as if it were read to the end, but reads only as far as the limit needs.
    const found = isOfWords
      ? `every as materialized (${every}), found as materialized (select * from every ${limit})`
      : `found as materialized (${every} ${limit})`
    const page = pageText(request, context, { ...source, orders, isNumbered: true })
    const text = `with ${newest}${found} ${besideCount('select count(*) as found from found', page)}`
    return statementOf(text, context, isKept)
  },
  read: rows => (rows[0]!.found! > mostSorted ? undefined : pageOf(rows, request)),
})
