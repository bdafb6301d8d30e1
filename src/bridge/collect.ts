// Collects what a message is made of: a resource and those that belong to it, as far as a subscriber may read them.
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import type { OutgoingRoute } from '../mapping/outgoing-routes.ts'
import { patientsIn } from '../store/patients.ts'
import type { Principal } from '../store/principal.ts'
import type { BridgeParts } from './parts.ts'

export interface Collected {
  readonly resource: JsonObject
  readonly version: number
  /** A collection of the resource and what it includes. */
  readonly bundle: JsonObject
  /** Ids of the patients that it is about. */
  readonly patients: readonly string[]
  /** The number of resources. */
  readonly count: number
}

/**
 * Reads a resource and what belongs to it. A message without its patient would be of nobody, and so there is none.
 * @param name `Type/id`
 * @throws Failure NOT_FOUND if the principal may not read the resource; FORBIDDEN if it may not read the patient
 */
export async function collected(
  { storeFor }: Pick<BridgeParts, 'storeFor'>,
  principal: Principal,
  { include }: OutgoingRoute,
  name: string,
): Promise<Collected> {
  const [type, id] = cutAt(name, '/')
  const store = storeFor(principal)
  const { base } = store
  const query = [['_id', id], ...include.map(each => ['_include', each])] as [string, string][]
  const { matches, included } = await store.search(store.parse([type], query, true))
  const [match] = matches
  if (!match) throw new Failure('NOT_FOUND', 'The resource no longer exists, or the subscriber may not read it.')
  const all = [match, ...included]
  const patients = type === 'Patient' ? [id] : patientsIn([match], base, [])
  const missing = patients.find(each => !all.some(found => found.type === 'Patient' && found.id === each))
  if (missing !== undefined)
    throw new Failure('FORBIDDEN', 'The subscriber may not read the Patient: a message must name its patient.')
  const resources = all.map(({ body }) => base.withSystems(parseJson(body) as JsonObject))
  const entry = resources.map((resource, at) => ({
    fullUrl: `${base.endpoint}/${all[at]!.type}/${all[at]!.id}`,
    resource,
  }))
  return {
    resource: resources[0]!,
    version: versionOf(resources[0]!),
    bundle: { resourceType: 'Bundle', type: 'collection', entry },
    patients,
    count: all.length,
  }
}

const versionOf = ({ meta }: JsonObject): number => Number((meta as JsonObject)['versionId'])
