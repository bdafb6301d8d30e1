// A page of matches, made of the rows that a statement found.

import type { Queryable } from '../../db/statement.ts'
import type { Reach } from '../visibility.ts'
import { type Closed, closedOf } from './closed.ts'
import { type HitRow, hitsOf } from './hit.ts'
import type { Cursor, SearchRequest } from './request.ts'
import { isBackward, placeLength } from './sort.ts'

export interface Page {
  readonly rows: readonly HitRow[]
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
  /** The place before or after a row of the page. */
  readonly cursorAt: (row: number, direction: Cursor['direction']) => Cursor
  /** As in the result of the search. */
  readonly closed: readonly string[] | undefined
}

/** A row of a statement for a page, with its place in the order: k0, k1… */
export type PageRow = HitRow &
  Closed &
  Partial<Reach> &
  Readonly<Record<`k${number}`, string>> & { readonly found?: number }

/** Builds the page from the rows: a match beyond its size means that there is another page. */
export function pageOf(all: readonly PageRow[], { count, cursor: from, sort }: SearchRequest): Page {
  const rows = all.filter(row => row.key !== null)
  const backward = isBackward(from)
  const more = rows.length > count
  const shown = more ? rows.slice(0, count) : rows
  if (backward) shown.reverse()
  const hasNext = backward ? shown.length > 0 : more
  const hasPrevious = backward ? more : from !== undefined
  const length = placeLength(sort)
  const cursorAt: Page['cursorAt'] = (place, direction) => {
    const row = shown[place]!
    return { direction, key: row.key, values: Array.from({ length }, (_, index) => row[`k${index}`]!) }
  }
  return {
    closed: closedOf(all),
    rows: shown,
    next: hasNext && shown.length > 0 ? cursorAt(shown.length - 1, 'next') : undefined,
    previous: hasPrevious && shown.length > 0 ? cursorAt(0, 'previous') : undefined,
    cursorAt,
  }
}

/** The page if there is another one after it: a walk that looks at some rows alone may have missed matches otherwise. */
export const fullPageOf = (rows: readonly PageRow[], request: SearchRequest): Page | undefined =>
  rows.length > request.count ? pageOf(rows, request) : undefined

/** The page with the bodies of its rows, which statements leave out where the tables are distributed. What has gone meanwhile is left out. */
export async function withBodies(on: Queryable, page: Page): Promise<Page> {
  if (on.layout !== 'distributed') return page
  const hits = await hitsOf(
    on,
    page.rows.map(row => row.key),
  )
  const known = new Map(hits.map(hit => [hit.key, hit]))
  const places = page.rows.flatMap((row, place) => (known.has(row.key) ? [place] : []))
  return {
    ...page,
    rows: places.map(place => known.get(page.rows[place]!.key)!),
    cursorAt: (place, direction) => page.cursorAt(places[place]!, direction),
  }
}
