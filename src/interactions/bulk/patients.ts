// The patients of an export: the members of a group, and the patients that a request names.

import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject, objectsIn, parseJson } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import { dateInterval } from '../../store/dates.ts'
import { isId } from '../../store/ids.ts'
import type { Store } from '../../store/store.ts'
import { referenceTarget } from '../../store/values.ts'
import { wrongParameter } from '../parameters.ts'

/** Groups within groups that are followed, and patients that a group may come to. */
const mostGroups = 1000

/**
 * Ids of the patients that are members of a group now, those of groups within it too. Members that are inactive, or
 * whose period has ended, are none.
 * @throws Failure NOT_FOUND, GONE, INSUFFICIENT_SCOPE for the group.
 */
export async function membersOf(store: Store, id: string, base: Base, now: Date): Promise<string[]> {
  const patients = new Set<string>()
  const groups = new Set([id])
  for (const group of groups) {
    if (groups.size > mostGroups)
      throw new Failure('MALFORMED_REQUEST', `The group contains more than ${mostGroups} other groups.`, {
        issue: 'too-costly',
      })
    const read = await store.read('Group', group).catch(error => {
      if (group !== id && error instanceof Failure && [404, 410].includes(error.status)) return undefined
      throw error
    })
    if (!read) continue
    for (const target of activeMembers(parseJson(read.body) as JsonObject, base, now)) {
      const [type, member = ''] = target.split('/')
      if (type === 'Patient') patients.add(member)
      if (type === 'Group') groups.add(member)
    }
  }
  return [...patients]
}

function activeMembers(group: JsonObject, base: Base, now: Date): string[] {
  const members = objectsIn(group['member'])
  return members
    .filter(member => member['inactive'] !== true && !hasEnded(member['period'], now))
    .map(({ entity }) => (isObject(entity) ? referenceTarget(String(entity['reference'] ?? ''), base) : undefined))
    .filter(target => target !== undefined)
}

function hasEnded(period: unknown, now: Date): boolean {
  const end = isObject(period) && typeof period['end'] === 'string' ? dateInterval(period['end']) : undefined
  return end !== undefined && end.high < now.getTime()
}

/**
 * Returns the patients of a request that exist and, for a group, are its members.
 * @param refuse called with each that is not.
 */
export async function namedPatients(
  store: Store,
  references: readonly string[],
  members: readonly string[] | undefined,
  base: Base,
  refuse: (failure: Failure) => void,
): Promise<string[]> {
  const ids = new Set<string>()
  for (const reference of references) {
    const [type, id, ...rest] = (referenceTarget(reference, base) ?? '').split('/')
    if (type === 'Patient' && isId(id) && rest.length === 0) ids.add(id)
    else throw wrongParameter('patient', 'patient must be a reference such as Patient/1.')
  }
  const known = members === undefined ? await store.exporting().knownPatients([...ids]) : new Set(members)
  const absent = [...ids].filter(id => !known.has(id))
  if (absent.length > 0) {
    const shown = absent.slice(0, 10).map(id => `Patient/${id}`)
    const where = members === undefined ? 'does not exist' : 'is not a member of the group'
    refuse(wrongParameter('patient', `patient: ${shown.join(', ')}${absent.length > 10 ? ' and more' : ''} ${where}.`))
  }
  return [...ids].filter(id => known.has(id))
}
