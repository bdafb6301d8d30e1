// Types of which somebody follows every change. Whoever writes knows them, as he knows the search parameters, or his statement
// fails (index_epoch): so from the moment that somebody follows a type, no change of it is missed.
import type { Queryable } from '../db/statement.ts'
import { lockIndex, nextEpoch } from './epoch.ts'
import { typeName, typeNumber } from './type-number.ts'

/** Takes the index, within a transaction that has written nothing yet and will follow one of the types, if nobody follows it so far. */
export async function readyToWatch(on: Queryable, types: readonly string[]): Promise<void> {
  const known = await watchedTypes(on)
  if (!types.every(type => known.has(type))) await lockIndex(on)
}

/**
 * Has a type followed from the end of the transaction on, for good: to forget one that nobody follows any more saves little, and
 * to learn of it again stops all writers for a moment.
 */
export async function watch(on: Queryable, type: string): Promise<void> {
  if ((await watchedTypes(on)).has(type)) return
  await lockIndex(on)
  await on.query({
    text: 'insert into watched_type values ($1::smallint) on conflict do nothing',
    values: [typeNumber(type)],
  })
  await nextEpoch(on)
}

/** The types that are followed. */
export async function watchedTypes(on: Queryable): Promise<Set<string>> {
  const rows = await on.query<{ type: number }>({ text: 'select type from watched_type', values: [] })
  return new Set(rows.map(({ type }) => typeName(type)))
}
