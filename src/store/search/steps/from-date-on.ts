// Read what a search from a date on finds, whose matches can be few, and among them some that began long before and last.
import { fullPageOf, type Page, type PageRow } from '../page.ts'
import type { SearchRequest, Sought } from '../request.ts'
import type { SearchOptions } from '../sql-context.ts'
import type { SearchStep } from '../strategy.ts'
import { isFromDateOn } from '../walk.ts'
import { findAll } from './find-all.ts'

/** The options with which all matches of a search from a date on are found by indexes; the same for any other search. */
export const findingAll = (request: Sought, options: SearchOptions): SearchOptions =>
  options.layout !== 'distributed' && isFromDateOn(request, options.indexer)
    ? { ...options, reaching: 'listed' }
    : options

/** Finds all matches of a search from a date on. */
export const findFromDateOn = (request: SearchRequest, options: SearchOptions): SearchStep<Page, PageRow> =>
  findAll(request, findingAll(request, options))

type Walk = (options: SearchOptions) => SearchStep<Page, PageRow>

/** The steps that come before a walk along the dates, which would go through everything that is older. @param walk the walk, with these options */
export const fromDateOn = (
  request: SearchRequest,
  options: SearchOptions,
  walk: Walk,
): readonly SearchStep<Page, PageRow>[] => [walkFromDayBefore(request, options, walk), findFromDateOn(request, options)]

/** A walk as far as the date. What begins before the others ends the page, so if the others fill it, they are all that is needed. */
export function walkFromDayBefore(
  request: SearchRequest,
  options: SearchOptions,
  walk: Walk,
): SearchStep<Page, PageRow> {
  const recent = walk({ ...options, reaching: 'recent' })
  return {
    ...recent,
    name: `${recent.name}, from the day before the date on`,
    givesUp: 'the page is not full',
    read: rows => fullPageOf(rows, request),
  }
}
