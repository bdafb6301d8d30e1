// A resource or Bundle that an agent sends: its Patients go through the register, everything else becomes one transaction in which
// a resource is found again by its identifier. Ids of another system mean nothing here.
import type { Caller } from '../access/caller.ts'
import { isResourceType } from '../definitions/r4.ts'
import type { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import { admit } from '../patients/admit.ts'
import type { Interaction } from '../store/principal.ts'
import { resolveLinks } from '../store/references.ts'
import type { TransactionEntry } from '../store/transaction.ts'
import type { AgentCall, BridgeParts } from './parts.ts'
import { refuse } from './refuse.ts'

/**
 * Registers the Patients of a resource or a Bundle of type transaction or collection, and returns the writes that the rest comes to.
 * @throws Failure VALIDATION_FAILED naming the entry that cannot be stored; FORBIDDEN; what `admit` throws.
 */
export async function bundleEntries(
  parts: BridgeParts,
  { caller }: AgentCall,
  payload: JsonObject,
): Promise<TransactionEntry[]> {
  const entries = entriesOf(payload)
  const others = entries.filter(({ resource }) => resource?.['resourceType'] !== 'Patient')
  for (const each of others) mayStore(caller, each)
  const links = new Map<string, string>()
  for (const { fullUrl, resource, name } of entries) {
    if (resource?.['resourceType'] !== 'Patient') continue
    const { id } = await admit(parts, caller, resource)
    for (const each of [fullUrl, name]) if (each !== undefined) links.set(each, `Patient/${id}`)
  }
  const named = new Map([...links, ...placeholders(others)])
  return others.map(each => entryFor(each, named))
}

function mayStore(caller: Caller, { place, resource, request }: Entry): void {
  const type = String(resource?.['resourceType'] ?? cutAt(String(request?.['url']), '?')[0])
  if (caller.may(type, 'c')) return
  const shown = isResourceType(type) ? type : 'resource of an unknown type'
  throw refuse('FORBIDDEN', `${place} is a ${shown}, which agents cannot store.`, place)
}

/** Deletes the resource with the identifier of the payload, if the agent may see it. @throws Failure VALIDATION_FAILED without one. */
export async function removeResource(
  { storeFor }: BridgeParts,
  { caller }: AgentCall,
  payload: JsonObject,
): Promise<void> {
  const [entry] = entriesOf(payload)
  const { method, type, query } = byIdentifier(entry?.resource, 'payload')
  if (payload['resourceType'] === 'Bundle' || type === 'Patient' || method === 'POST')
    throw refused('Only a resource with an identifier can be deleted, and no Patient.', 'payload')
  const remover = {
    ...caller,
    may: (on: string, deed: Interaction) => (on === type && deed === 'd') || caller.may(on, deed),
  }
  await storeFor(remover).removeWhere(type, query!, {})
}

interface Entry {
  readonly place: string
  readonly fullUrl: string | undefined
  /** `Type/id`, as other entries of the same Bundle may name it. */
  readonly name: string | undefined
  readonly resource: JsonObject | undefined
  readonly request: JsonObject | undefined
}

const refused = (message: string, field?: string): Failure => refuse('VALIDATION_FAILED', message, field)

function entriesOf(payload: JsonObject): Entry[] {
  const { resourceType, type, entry } = payload
  if (resourceType !== 'Bundle') return [entryOf({ resource: payload }, 'payload')]
  if (type !== 'transaction' && type !== 'collection')
    throw refused('A Bundle of an agent must have the type transaction or collection.', 'payload.type')
  return objectsIn(entry).map((each, index) => entryOf(each, `payload.entry[${index}]`))
}

function entryOf({ fullUrl, resource, request }: JsonObject, place: string): Entry {
  if (resource !== undefined && !(isObject(resource) && isResourceType(String(resource['resourceType']))))
    throw refused(`${place} has no resource of a type of FHIR R4.`, place)
  const own = isObject(resource) ? resource : undefined
  const id = own?.['id']
  return {
    place,
    fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined,
    name: typeof id === 'string' ? `${String(own!['resourceType'])}/${id}` : undefined,
    resource: own,
    request: isObject(request) ? request : undefined,
  }
}

/** The addresses by which entries name each other, as placeholders that a transaction resolves. */
function placeholders(entries: readonly Entry[]): [string, string][] {
  return entries.flatMap((each): [string, string][] => (each.name === undefined ? [] : [[each.name, fullUrlOf(each)]]))
}

const fullUrlOf = ({ fullUrl, name, place }: Entry): string =>
  fullUrl ?? `urn:x-bridge:${name ?? encodeURIComponent(place)}`

function entryFor(entry: Entry, links: ReadonlyMap<string, string>): TransactionEntry {
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
  return { method: 'PUT', type, query: `identifier=${encodeURIComponent(`${escaped(system)}|${escaped(value)}`)}` }
}

const escaped = (text: unknown): string => String(text).replaceAll(/[\\$,|]/g, '\\$&')
