// Types of which somebody follows every change. Whoever writes knows them, as he knows the search parameters, or his statement
// fails (index_epoch): so from the moment that somebody follows a type, no change of it is missed.
import { int2Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { nextEpoch } from './epoch.ts'
import { typeName, typeNumber } from './type-number.ts'

/** Sets the types that are followed, within a transaction that holds the index (lockIndex). */
export async function watch(on: Queryable, types: ReadonlySet<string>): Promise<void> {
  const changed = await on.query({
    text: `with wanted as (
        select type from unnest($1::smallint[]) as type
      ), gone as (
        delete from watched_type where type not in (select type from wanted) returning type
      ), fresh as (
        insert into watched_type select type from wanted on conflict do nothing returning type
      )
      select type from gone union all select type from fresh`,
    values: [int2Array([...types].map(typeNumber))],
  })
  if (changed.length > 0) await nextEpoch(on)
}

/** The types that are followed. */
export async function watchedTypes(on: Queryable): Promise<Set<string>> {
  const rows = await on.query<{ type: number }>({ text: 'select type from watched_type', values: [] })
  return new Set(rows.map(({ type }) => typeName(type)))
}
