// Which facilities an organisation may speak for: itself, what is part of it, and the locations that it manages.

import { fhirBase } from '../../http/failures.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { type Caller, onBehalfOf } from '../../policy/caller.ts'
import type { Store } from '../../store/store.ts'
import type { ConnectParts } from '../parts.ts'
import { idIn } from './elements.ts'

/** What a facility is, by its id; what is not here is not the caller's. */
export type Facilities = ReadonlyMap<string, 'Organization' | 'Location'>

/** Levels of organisations within each other. */
const deepest = 10

/**
 * Those of the facilities that the caller's organisation may speak for: whose Organization.partOf leads to it, or whose
 * Location.managingOrganization does. An id that an Organization and a Location share is that of the Organization.
 */
export async function ownFacilities(
  { storeFor, baseUrl }: ConnectParts,
  caller: Caller,
  facilities: Iterable<string>,
): Promise<Facilities> {
  const own = caller.organizationId
  const asked = new Set(facilities)
  const found = new Map<string, 'Organization' | 'Location'>()
  if (asked.delete(own)) found.set(own, 'Organization')
  if (asked.size === 0) return found
  const store = storeFor(onBehalfOf(caller, { Organization: 'rs', Location: 'rs' }))
  const base = `${baseUrl}${fhirBase}`
  const above = new Map<string, string | undefined>()
  const learn = async (ids: readonly string[]): Promise<Set<string>> => {
    const known = await named(store, 'Organization', ids)
    for (const id of ids) above.set(id, idIn(known.get(id)?.['partOf'], 'Organization', base))
    return new Set(known.keys())
  }
  const organizations = await learn([...asked])
  const places = await named(
    store,
    'Location',
    [...asked].filter(id => !organizations.has(id)),
  )
  const managers = new Map(
    [...places].map(([id, each]) => [id, idIn(each['managingOrganization'], 'Organization', base)]),
  )
  let next = [...managers.values(), ...above.values()]
  for (let level = 0; level < deepest; level++) {
    const unknown = new Set(next.filter(id => id !== undefined && id !== own && !above.has(id)) as string[])
    if (unknown.size === 0) break
    await learn([...unknown])
    next = [...unknown].map(id => above.get(id))
  }
  for (const id of organizations) if (leads(id, own, above)) found.set(id, 'Organization')
  for (const [id, manager] of managers) if (manager && leads(manager, own, above)) found.set(id, 'Location')
  return found
}

function leads(from: string, to: string, above: ReadonlyMap<string, string | undefined>): boolean {
  let at: string | undefined = from
  for (let level = 0; at !== undefined && level <= deepest; level++) {
    if (at === to) return true
    at = above.get(at)
  }
  return false
}

/** The resources of a type with these ids. */
async function named(store: Store, type: string, ids: readonly string[]): Promise<Map<string, JsonObject>> {
  if (ids.length === 0) return new Map()
  const params: [string, string][] = [
    ['_id', ids.join(',')],
    ['_count', String(ids.length)],
  ]
  const { matches } = await store.search(store.parse([type], params, true))
  const bodies = matches.map(({ id, body }): [string, unknown] => [id, parseJson(body)])
  return new Map(bodies.filter((each): each is [string, JsonObject] => isObject(each[1])))
}
