// Lists of Connect: the size of a page, where it begins, and its format.

import type { Cursors } from './cursor.ts'
import { isDay } from './day.ts'
import { Failure } from './failure.ts'
import { type TSchema, Type } from './schema.ts'

const usual = 20
const most = 100
/** The most rows that a page is made of: one more shows whether there is another page. */
export const mostRows = most + 1

/** The query members of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.String({
      description: `Entries per page, 1 to ${most}. Default: ${usual}.`,
      examples: ['50'],
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4000, description: 'The next_cursor of the previous page, unchanged.' }),
  ),
}

/** Returns the schema of every page: its members, and `more` of its own. */
export function pageOf<Item extends TSchema>(item: Item, $id: string, description: string, more = {}) {
  return Type.Object(
    {
      ...more,
      data: Type.Array(item),
      has_more: Type.Boolean({ description: 'True if there are more entries.' }),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: 'The cursor of the next page. Null on the last page.',
      }),
    },
    { $id, description },
  )
}

/** What a request wants of a list. */
export interface PageRequest {
  readonly limit: number
  /** The last entry that the caller has; undefined: from the beginning. */
  readonly after: readonly string[] | undefined
}

interface Query {
  readonly limit?: string
  readonly cursor?: string
}

/** The name of a list for its cursors: the operation, and whatever decides what is in the list. */
export function listName(operation: string, filters: Readonly<Record<string, unknown>>): string {
  const { limit: _limit, cursor: _cursor, ...more } = filters
  return JSON.stringify([operation, Object.entries(more).sort()])
}

/** @throws Failure VALIDATION_FAILED for a limit out of range, or a cursor of another list. */
export function wantedOf(cursors: Cursors, list: string, { limit = String(usual), cursor }: Query): PageRequest {
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > most)
    throw wrong('limit', `must be a whole number from 1 to ${most}`)
  return { limit: Number(limit), after: cursor === undefined ? undefined : cursors.read(list, cursor) }
}

/**
 * Builds a page from rows; the query requests one row more than the page holds.
 * @param isCut there may be more after these rows, even if they are not more than the page holds
 */
export function page<Row, Item>(
  cursors: Cursors,
  list: string,
  { limit }: PageRequest,
  rows: readonly Row[],
  shape: { readonly position: (row: Row) => readonly string[]; readonly item: (row: Row) => Item | undefined },
  isCut = false,
) {
  const shown = rows.slice(0, limit)
  const has_more = rows.length > limit || isCut
  return {
    data: shown.map(shape.item).filter(item => item !== undefined),
    has_more,
    next_cursor: has_more ? cursors.write(list, shape.position(shown.at(-1)!)) : null,
  }
}

/** @throws Failure VALIDATION_FAILED unless the text is a day of the calendar. */
export function mustBeDay(name: string, text: string): void {
  if (!isDay(text)) throw wrong(name, 'must be a calendar date, such as 2026-03-14')
}

/** The failure for a query member. */
export function wrong(name: string, message: string, code = 'format'): Failure {
  return new Failure('VALIDATION_FAILED', `query.${name} ${message}.`, {
    details: [{ field: `query.${name}`, code, message }],
  })
}
