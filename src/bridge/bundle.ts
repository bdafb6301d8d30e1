// A resource or Bundle that an agent sends: its Patients go through the register, everything else becomes one transaction in which
// a resource is found again by its identifier. Ids of another system mean nothing here.
import type { Caller } from '../access/caller.ts'
import { isResourceType } from '../definitions/r4.ts'
import { type JsonObject, objectsIn } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import { type Links, linksTo, resolveLinks } from '../store/references.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import { type Entry, entriesOf, isAboutPeople } from './entry.ts'
import type { Plan } from './group.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { peopleOf } from './people.ts'
import { refuse, refused } from './refuse.ts'
import { identifiedBy } from './stored.ts'
import { ofTheirPatients } from './whose.ts'

/**
 * Reads a resource or a Bundle of type transaction or collection. Its plan registers the Patients, merges those that it says are one,
 * and returns the writes that the rest comes to.
 * @param merge what a stored resource of the same patient becomes by a PUT; absent: the resource is replaced, whosever it was
 * @throws Failure VALIDATION_FAILED naming the entry that cannot be stored; FORBIDDEN; the plan throws what `admit` and `unite` throw.
 */
export function readBundle({ caller }: AgentCall, payload: JsonObject, merge?: TransactionEntry['merge']): Plan {
  const entries = entriesOf(payload)
  const others = entries.filter(each => !isAboutPeople(each))
  for (const each of others) mayStore(caller, each)
  return async (parts, call) => {
    const links = await peopleOf(parts, call, entries.filter(isAboutPeople))
    const named = linksTo(new Map([...links, ...placeholders(others)]), entries)
    if (!merge) return others.map(each => entryFor(each, named))
    const writes = others.map(each => ({ ...entryFor(each, named), merge, isOfKnown: isOfKnown(each) }))
    return ofTheirPatients(parts.databaseFor(call.caller), writes, new Set(links.values()))
  }
}

/** As the maps of messages say it. */
const isOfKnown = ({ request }: Entry): boolean => request?.['method'] === 'PUT' && request['ifMatch'] === '*'

function mayStore(caller: Caller, { place, resource, request }: Entry): void {
  const type = String(resource?.['resourceType'] ?? cutAt(String(request?.['url']), '?')[0])
  if (caller.may(type, 'c')) return
  const shown = isResourceType(type) ? type : 'resource of an unknown type'
  throw refuse('FORBIDDEN', `${place} is a ${shown}, which agents cannot store.`, place)
}

/** Deletes the resource with the identifier of the payload, if the organisation's agents wrote it. @throws Failure VALIDATION_FAILED */
export async function removeResource(
  { storeFor }: BridgeParts,
  { caller }: AgentCall,
  payload: JsonObject,
): Promise<void> {
  const [entry] = entriesOf(payload)
  if (payload['resourceType'] === 'Bundle' || !entry || isAboutPeople(entry))
    throw refused('Only one resource with an identifier can be deleted, and no Patient.', 'payload')
  mayStore(caller, entry)
  const { method, type, query } = byIdentifier(entry.resource, 'payload')
  if (method === 'POST') throw refused('payload has no identifier by which it could be found.', 'payload.identifier')
  await storeFor(caller).removeWhere(type, query!, {})
}

/** The addresses by which entries name each other, as placeholders that a transaction resolves. */
function placeholders(entries: readonly Entry[]): [string, string][] {
  return entries.flatMap((each): [string, string][] => (each.name === undefined ? [] : [[each.name, fullUrlOf(each)]]))
}

const fullUrlOf = ({ fullUrl, name, place }: Entry): string =>
  fullUrl ?? `urn:x-bridge:${name ?? encodeURIComponent(place)}`

function entryFor(entry: Entry, links: Links): TransactionEntry {
  const { method, type, query } = requestOf(entry)
  const { id: _id, ...resource } = entry.resource ?? {}
  return {
    fullUrl: fullUrlOf(entry),
    method,
    type,
    id: undefined,
    query,
    resource: method === 'DELETE' ? undefined : resolveLinks(resource, links, entry.fullUrl),
  }
}

type Planned = Pick<TransactionEntry, 'type' | 'query'> & { readonly method: 'POST' | 'PUT' | 'DELETE' }

/** What an entry asks for; a resource without a request replaces the one with its first identifier. */
function requestOf({ request, resource, place }: Entry): Planned {
  if (!request) return byIdentifier(resource, place)
  const { method, url, ifNoneExist } = request
  const [path, query] = cutAt(String(url), '?')
  if (!isResourceType(path ?? ''))
    throw refused(
      `${place} must name its resource by a type and an identifier, such as Observation?identifier=system|value: ids of the agent mean nothing here.`,
      `${place}.request.url`,
    )
  if (method === 'POST')
    return { method, type: path!, query: typeof ifNoneExist === 'string' ? ifNoneExist : undefined }
  if ((method === 'PUT' || method === 'DELETE') && query) return { method, type: path!, query }
  throw refused(`${place} must be a POST, or a PUT or DELETE with a condition.`, `${place}.request.method`)
}

function byIdentifier(resource: JsonObject | undefined, place: string): Planned {
  if (!resource) throw refused(`${place} has no resource.`, place)
  const type = String(resource['resourceType'])
  const [identifier] = objectsIn(resource['identifier']).filter(({ value }) => typeof value === 'string')
  if (!identifier) return { method: 'POST', type, query: undefined }
  const { system = '', value } = identifier
  return { method: 'PUT', type, query: identifiedBy(system, value) }
}
