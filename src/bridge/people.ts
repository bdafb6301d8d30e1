// The Patients of a Bundle: found or registered, brought up to date, merged. Everything goes through the register of people.
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import { admit } from '../patients/admit.ts'
import { unite } from '../patients/unite.ts'
import type { Entry } from './entry.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { refuse, refused } from './refuse.ts'

/**
 * Does what the entries say of people, and returns the Patient that each name of an entry stands for.
 * @throws Failure VALIDATION_FAILED, FORBIDDEN; what `admit` and `unite` throw.
 */
export async function peopleOf(
  parts: BridgeParts,
  { caller, isNewer }: AgentCall,
  entries: readonly Entry[],
): Promise<Map<string, string>> {
  const patients = entries.filter(({ resource }) => resource?.['resourceType'] === 'Patient')
  const orders = entries.filter(each => !patients.includes(each))
  const removed = new Set(orders.filter(isPatch).flatMap(removedMembers))
  const links = new Map<string, string>()
  for (const { fullUrl, name, place, resource, request } of patients) {
    mustBeOwn(parts, caller.organizationId, resource!, place)
    const method = request?.['method'] ?? 'PUT'
    if (method !== 'PUT' && method !== 'POST')
      throw refused(`${place} must be a POST or a PUT.`, `${place}.request.method`)
    const { id } = await admit(parts, caller, resource!, { updates: method === 'PUT', removes: [...removed], isNewer })
    for (const each of [fullUrl, name]) if (each !== undefined) links.set(each, `Patient/${id}`)
  }
  for (const order of orders.filter(each => !isPatch(each))) {
    const { remaining, former } = mergeOf(order, patients)
    mustBeOwn(parts, caller.organizationId, former, order.place)
    await unite(parts, caller, { remaining, former })
  }
  return links
}

/** Numbers of other organisations are not the agent's to give: they would lead those organisations to the wrong person. */
function mustBeOwn({ addresses }: BridgeParts, organization: string, patient: JsonObject, place: string): void {
  const own = `${addresses.numbers}${organization}`
  for (const { system } of objectsIn(patient['identifier'])) {
    if (typeof system !== 'string') continue
    const known = addresses.base.system(system)
    if (known.startsWith(addresses.numbers) && known !== own && !known.startsWith(`${own}/`))
      throw refuse('FORBIDDEN', `${place} has a number of another organisation.`, `${place}.identifier`)
  }
}

const isPatch = ({ request }: Entry): boolean => request?.['method'] === 'PATCH'

/** The members that a FHIRPath Patch deletes, which is what an explicit null of a message asks for. */
function removedMembers({ resource, place }: Entry): string[] {
  return objectsIn(resource?.['parameter']).map(({ part }) => {
    const parts = objectsIn(part)
    const value = (name: string, type: string): string => String(parts.find(each => each['name'] === name)?.[type])
    const [, member] = /^Patient\.([a-z][A-Za-z]*)$/.exec(value('path', 'valueString')) ?? []
    if (value('type', 'valueCode') === 'delete' && member && member !== 'identifier' && member !== 'link') return member
    throw refused(`${place} can only delete members of a Patient.`, place)
  })
}

/** Returns the Patients of an entry that asks for `Patient/$merge` by their identifiers. */
function mergeOf(
  { resource, request, place }: Entry,
  patients: readonly Entry[],
): { remaining: JsonObject; former: JsonObject } {
  const identifier = (name: string): JsonObject => {
    const found = objectsIn(resource?.['parameter']).find(each => each['name'] === name)?.['valueIdentifier']
    if (isObject(found) && typeof found['value'] === 'string') return found
    throw refused(`${place} must name ${name} as a valueIdentifier.`, place)
  }
  if (request?.['method'] !== 'POST' || request['url'] !== 'Patient/$merge')
    throw refused(`${place} must be a Patient, or a POST of Patient/$merge.`, `${place}.request`)
  const [source, target] = [identifier('source-patient-identifier'), identifier('target-patient-identifier')]
  const isTarget = ({ resource: patient }: Entry): boolean =>
    objectsIn(patient?.['identifier']).some(
      each => each['system'] === target['system'] && each['value'] === target['value'],
    )
  const remaining = patients.find(isTarget)?.resource
  if (!remaining) throw refused(`${place} names a target that is no Patient of the Bundle.`, place)
  return { remaining, former: { resourceType: 'Patient', identifier: [source] } }
}
