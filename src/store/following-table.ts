// A table that follows the resources of a type, by their ids.

import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { createPause } from './pause.ts'
import type { Projected, Projection } from './projection.ts'

export interface FollowingTable<Row> {
  readonly type: string
  /** Name of the table; its column `id` is the id of the resource. */
  readonly table: string
  /** The rows, or the row, that a resource comes to as it is stored now: none if it is stored no more. */
  rowsOf(change: Projected): Row | readonly Row[]
  /** Writes the rows, of which there is at least one. */
  insert(on: Queryable, rows: readonly Row[]): Promise<void>
}

/** Takes the rows of the resources that were written out of the table, and puts those in that they come to now. */
export function following<Row>({ type, table, rowsOf, insert }: FollowingTable<Row>): Projection {
  const follow = async (on: Queryable, changes: readonly Projected[]): Promise<void> => {
    const known = changes.filter(({ isFresh }) => !isFresh)
    const ids = textArray(known.map(({ id }) => id))
    if (known.length > 0) await on.run({ text: `delete from ${table} where id = any($1::text[])`, values: [ids] })
    const rows: Row[] = []
    const pause = createPause()
    for (const change of changes) {
      rows.push(...[change].flatMap(rowsOf))
      await pause.after(change.resource)
    }
    if (rows.length > 0) await insert(on, rows)
  }
  const types = new Set([type])
  return { types, apply: follow, anew: follow, shared: types }
}
