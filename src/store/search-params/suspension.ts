// Search parameters that are out of use: nothing is indexed by them, and nothing can be searched by them.
//
// Whoever stores a resource without the values of a parameter adds a row here before, in the same transaction or on its own, so a
// search that could miss the resource finds the row afterwards. Rows are only ever added, several for one parameter if need be:
// writers never wait for each other.
import { textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { channel } from '../epoch.ts'
import type { Costly } from '../index/account.ts'
import type { Suspended } from './known.ts'

/** Joins the row `p` of search_parameter with `s`, the first reason why it is suspended, if it is. */
export const withSuspension = `left join lateral (
    select cause, reason, suspended_at from search_parameter_suspension s where s.key = p.key order by cause, suspended_at limit 1
  ) s on true`

/** Suspends parameters that cost too much, as far as they are not suspended already. */
export async function suspend(on: Queryable, costly: readonly Costly[]): Promise<void> {
  if (costly.length === 0) return
  await on.run({
    name: 'suspend-parameters',
    text: `with added as (
        insert into search_parameter_suspension (key, cause, reason)
        select v.key, 'work', v.reason from unnest($1::text[], $2::text[]) as v(key, reason)
        where not exists (select 1 from search_parameter_suspension s where s.key = v.key)
        returning 1)
      select pg_notify('${channel}', '') from added limit 1`,
    values: [textArray(costly.map(({ param }) => param.key.name)), textArray(costly.map(({ reason }) => reason))],
  })
}

/** Those of the keys that are suspended, and why. */
export async function suspensions(on: Queryable, keys: readonly string[]): Promise<Map<string, Suspended>> {
  const rows = await on.query<{ key: string; cause: Suspended['cause']; reason: string }>({
    name: 'suspended-parameters',
    text: 'select key, cause, reason from search_parameter_suspension where key = any($1::text[]) order by cause desc, suspended_at desc',
    values: [textArray([...new Set(keys)])],
  })
  return new Map(rows.map(({ key, cause, reason }) => [key, { cause, reason }]))
}

/** Removes the suspension of parameters whose owner has defined them again. @returns the keys that were suspended. */
export async function forgetSuspensions(on: Queryable, keys: readonly string[]): Promise<Set<string>> {
  const rows = await on.query<{ key: string }>({
    text: `delete from search_parameter_suspension where key = any($1::text[]) and cause = 'work' returning key`,
    values: [textArray([...new Set(keys)])],
  })
  return new Set(rows.map(({ key }) => key))
}
