// The patients that a request names although the store reported none: the audit trail records the request under them as
// well.

import type { Asker, PatientCaller } from '../access/caller.ts'
import { isObject } from '../lib/json.ts'
import type { Route } from './route.ts'

/** Returns the ids of the patients that are registered under these texts, as far as they are Health IDs. */
export type HoldersOf = (healthIds: readonly string[]) => Promise<readonly string[]>

const longest = 100

/** Returns the texts in the place of a Health ID in the path, the query or the body of a request. */
export function healthIdsIn(
  params: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  body: unknown,
): string[] {
  const found = [params['health_id'], query.get('health_id'), isObject(body) ? body['health_id'] : undefined]
  return found.filter(each => typeof each === 'string').filter(({ length }) => length > 0 && length <= longest)
}

/** Returns the ids of the patients. A patient's own token names that patient. */
export async function concerned(
  route: Pick<Route, 'givesAccess'> | undefined,
  caller: Asker | undefined,
  healthIds: readonly string[],
  holdersOf: HoldersOf | undefined,
): Promise<readonly string[]> {
  if (caller?.kind === 'patient') return [(caller as PatientCaller).patientId]
  // A caller that is not authenticated must not cause work in the database, unless the request itself does the same
  // work.
  if (!(caller || route?.givesAccess) || !holdersOf || healthIds.length === 0) return []
  return holdersOf(healthIds)
}
