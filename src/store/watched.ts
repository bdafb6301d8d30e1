// Types of which somebody follows every change. Whoever writes knows them, as he knows the search parameters, or his statement
// fails (index_epoch): so from the moment that somebody follows a type, no change of it is missed.
import { int2Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { lockIndex, nextEpoch } from './epoch.ts'
import { typeName, typeNumber } from './type-number.ts'

/**
 * Has types followed from the end of the transaction on. Those that nobody follows any more are forgotten when that costs
 * nothing: when there is a new one, which all writers have to learn of.
 * @param wanted finds out which; asked again when nobody else can be changing it
 */
export async function watch(on: Queryable, wanted: () => Promise<ReadonlySet<string>>): Promise<void> {
  const known = await watchedTypes(on)
  if ([...(await wanted())].every(type => known.has(type))) return
  await lockIndex(on)
  const types = int2Array([...(await wanted())].map(typeNumber))
  await on.query({ text: 'delete from watched_type where type <> all($1::smallint[])', values: [types] })
  await on.query({
    text: 'insert into watched_type select unnest($1::smallint[]) on conflict do nothing',
    values: [types],
  })
  await nextEpoch(on)
}

/** The types that are followed. */
export async function watchedTypes(on: Queryable): Promise<Set<string>> {
  const rows = await on.query<{ type: number }>({ text: 'select type from watched_type', values: [] })
  return new Set(rows.map(({ type }) => typeName(type)))
}
