// Pages of a search with too many included resources: a page ends earlier and the next one continues, and where one match alone
// includes too many, these continue over further pages, on which no match is repeated. Nothing is left out.

import type { Queryable } from '../../db/statement.ts'
import { shardOfKey } from '../index/shard.ts'
import type { HitRow } from './hit.ts'
import { includedWith } from './include.ts'
import type { Page } from './page.ts'
import { plan } from './plan.ts'
import { fitsPage, reachable } from './reachable.ts'
import type { Cursor, SearchRequest } from './request.ts'
import { isBackward } from './sort.ts'
import type { SearchOptions } from './sql-context.ts'
import { conditions, withParts } from './statement.ts'
import { run } from './strategy.ts'

/** A page of matches with all that belongs on it. */
export interface Filled {
  readonly rows: readonly HitRow[]
  readonly included: readonly HitRow[]
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
}

/** Returns the page with what its matches include; with fewer matches if that is too much. */
export async function filled(
  on: Queryable,
  request: SearchRequest,
  page: Page,
  options: SearchOptions,
): Promise<Filled> {
  const { rows, next, previous } = page
  const { includes } = request
  const included = await includedWith(on, includes, rows, options)
  if (included) return { rows, included, next, previous }
  const backward = isBackward(request.cursor)
  const nearest = (count: number): readonly HitRow[] => (backward ? rows.slice(-count) : rows.slice(0, count))
  const count = await mostThatFit(rows.length, many => {
    return fitsPage(on, { includes, keys: nearest(many).map(row => row.key) }, options)
  })
  // Between two statements others may have written what makes it too much again: only one match can go on by itself.
  for (let many = Math.max(count, 1); ; many = Math.ceil(many / 2)) {
    const kept = nearest(many)
    const found = await reachable(on, { includes, keys: kept.map(row => row.key) }, 0, options)
    const ends = endsOf(page, kept, backward)
    if (many === 1 || found.length <= options.maxIncluded) return { rows: kept, ...pageOf(found, ends, options) }
  }
}

/** Returns the links of a page that keeps only the matches nearest to its beginning, or to its end when read backward. */
function endsOf({ rows, next, previous, cursorAt }: Page, kept: readonly HitRow[], backward: boolean): Ends {
  const first = rows.indexOf(kept[0]!)
  const last = rows.indexOf(kept.at(-1)!)
  const isCut = kept.length < rows.length
  return {
    from: cursorAt(last, 'next'),
    next: isCut && !backward ? cursorAt(last, 'next') : next,
    previous: isCut && backward ? cursorAt(first, 'previous') : previous,
  }
}

/** The largest number of matches that fit, 0 if not even one does. */
async function mostThatFit(most: number, fits: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (await fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

interface Ends {
  /** The place of the match whose includes these are. */
  readonly from: Cursor
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
}

function pageOf(
  found: readonly HitRow[],
  { from, next, previous }: Ends,
  { maxIncluded }: SearchOptions,
): Omit<Filled, 'rows'> {
  const included = found.slice(0, maxIncluded)
  const rest = found.length > maxIncluded ? { ...from, within: included.at(-1)!.key } : undefined
  return { included, next: rest ?? next, previous }
}

/** Returns the page that continues what one match includes; undefined if it no longer matches. */
export async function goneOn(
  on: Queryable,
  request: SearchRequest,
  cursor: Cursor & { readonly within: number },
  options: SearchOptions,
): Promise<Filled | undefined> {
  const { within, ...from } = cursor
  // The holder of a link may have changed it: the resource must be a match that the caller sees.
  if (!(await isMatch(on, request, from.key, options))) return undefined
  const found = await reachable(on, { includes: request.includes, keys: [from.key] }, within, options)
  const isLast = found.length <= options.maxIncluded
  const after = isLast ? await run(on, plan({ ...request, count: 1, cursor: from }, options)) : undefined
  const next = after?.rows.length === 0 ? undefined : from
  return { rows: [], ...pageOf(found, { from, next, previous: undefined }, options) }
}

async function isMatch(on: Queryable, request: SearchRequest, key: number, options: SearchOptions): Promise<boolean> {
  const { context, where } = conditions(request, options)
  const text = `select 1 as found from search s where s.shard = ${context.bind(shardOfKey(key))}::smallint and s.key = ${context.bind(key)}::bigint and ${where}`
  const found = await on.query<object>({ text: withParts(text, context), values: context.values })
  return found.length > 0
}
