// Whom a request is about that was refused before the store told of anybody: the trail shows it under that patient all the same.
import { isObject } from '../lib/json.ts'
import type { Asker, PatientCaller } from '../policy/caller.ts'

/** Ids of the patients who are registered under these texts, as far as they are Health IDs. */
export type HoldersOf = (healthIds: readonly string[]) => Promise<readonly string[]>

const longest = 100

/** What stands in the place of a Health ID in the path, the query or the body of a request. */
export function healthIdsIn(
  params: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
  body: unknown,
): string[] {
  const found = [params['health_id'], query.get('health_id'), isObject(body) ? body['health_id'] : undefined]
  return found.filter(each => typeof each === 'string').filter(({ length }) => length > 0 && length <= longest)
}

/** Ids of the patients. A patient who asks for himself is whom it is about. */
export async function concerned(
  caller: Asker | undefined,
  healthIds: readonly string[],
  holdersOf: HoldersOf | undefined,
): Promise<readonly string[]> {
  if (caller?.kind === 'patient') return [(caller as PatientCaller).patientId]
  // Who is not known asks about nobody: it would cost the database work.
  if (!caller || !holdersOf || healthIds.length === 0) return []
  return holdersOf(healthIds)
}
