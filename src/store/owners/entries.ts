// The entries of registered organisations: what such an organisation, an exempt client or the service records of it is its own word.
import { textArray } from '../../db/arrays.ts'
import type { Party } from '../principal.ts'
import { typeNumber } from '../type-number.ts'
import { boundTo } from './party.ts'
import type { Ground } from './speaking.ts'

/**
 * Makes registered organisations the owners of their entries, which a caller with the right to do so has just replaced
 * (speaking.ts), regardless of who recorded them before.
 */
export async function settleEntries(
  { on, registered }: Ground,
  party: Party,
  updated: readonly { readonly type: string; readonly id: string }[],
): Promise<void> {
  const own = boundTo(party)
  const ids = updated.flatMap(({ type, id }) =>
    type === 'Organization' && (own === undefined || own === id) ? [id] : [],
  )
  if (ids.length === 0) return
  const organizations = await registered(on, ids)
  if (organizations.size === 0) return
  await on.run({
    text: `update search s set owner = d.id from directory d where d.type = $1 and d.id = any($2::text[])
      and s.shard = d.shard and s.key = d.key and s.owner is distinct from d.id`,
    values: [typeNumber('Organization'), textArray([...organizations])],
  })
}
