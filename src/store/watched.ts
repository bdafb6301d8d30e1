// Types whose every change has a follower. A writer has their current list, as it has the search parameters, or its statement fails
// (index_epoch): once a type is followed, no change of it is missed.
import type { Queryable } from '../db/statement.ts'
import { lockIndex, nextEpoch } from './epoch.ts'
import { typeName, typeNumber } from './type-number.ts'

/**
 * Takes the index lock, within a transaction that has written nothing yet and will follow one of the types, if none is followed so
 * far.
 */
export async function readyToWatch(on: Queryable, types: readonly string[]): Promise<void> {
  const known = await watchedTypes(on)
  if (!types.every(type => known.has(type))) await lockIndex(on)
}

/**
 * Follows a type from the end of the transaction on, for good: to stop following saves little, and to start again stops all writers
 * for a moment.
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
