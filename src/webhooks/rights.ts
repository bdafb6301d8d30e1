// Which webhook endpoints a user of the portal sees: those of the organisation's clients, or for administrators all.
import { ownOrganization, type UserCaller } from '../access/caller.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { type Listed, listAll } from './endpoints.ts'

const seenBy = (user: UserCaller) => ({ isOfConnect: true, organizationId: ownOrganization(user) })

/** Returns the endpoints that a user sees, oldest first. */
export const endpointsSeenBy = (
  on: Queryable,
  user: UserCaller,
  page: { readonly after?: number; readonly limit: number },
): Promise<Listed[]> => listAll(on, { ...page, ...seenBy(user) })

/** Returns one of these. @throws Failure NOT_FOUND, for another organisation's as for one that does not exist */
export async function endpointSeenBy(on: Queryable, user: UserCaller, id: string): Promise<Listed> {
  const [found] = await listAll(on, { id, ...seenBy(user) })
  if (found) return found
  throw new Failure('NOT_FOUND', 'Your organisation has no such webhook subscription.')
}
