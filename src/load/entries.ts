// What to store for each thing in a file, under ids that are the same each time, so that loading twice changes nothing.
import { createHash } from 'node:crypto'
import { isResourceType } from '../definitions/r4.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { SourceLocation } from './read.ts'

/** Entries that belong together: all of a transaction, or a single resource. */
export interface LoadUnit extends SourceLocation {
  readonly entries: readonly TransactionEntry[]
  /** Entries of a transaction stand or fall together; single resources only share the trip to the database. */
  readonly isAtomic: boolean
}

/** @throws Error with what is wrong, for the report. */
export function unitsOf(resource: JsonObject, place: SourceLocation): LoadUnit[] {
  if (resource['resourceType'] !== 'Bundle') return [unitOf(resource, place)]
  const entries = objectsIn(resource['entry'])
  switch (resource['type']) {
    case 'transaction':
      return [{ ...place, entries: entries.flatMap(requested), isAtomic: true }]
    case 'batch':
      return entries.flatMap(requested).map(entry => ({ ...place, entries: [entry], isAtomic: false }))
    case 'collection':
    case 'searchset':
      return together(entries, place)
    default:
      return [unitOf(resource, place)]
  }
}

/** Resources of a collection may refer to each other by fullUrl, so they travel together. */
function together(entries: readonly JsonObject[], place: SourceLocation): LoadUnit[] {
  const known = entries.filter(entry => isObject(entry['resource']))
  return [
    { ...place, entries: known.map(entry => put(entry['resource'] as JsonObject, fullUrlOf(entry))), isAtomic: true },
  ]
}

const fullUrlOf = (entry: JsonObject): string | undefined =>
  typeof entry['fullUrl'] === 'string' ? entry['fullUrl'] : undefined

const idShape = /^[A-Za-z0-9.-]{1,64}$/

/** Stores a resource as it is, Bundles too. @throws Error with what is wrong, for the report. */
export function unitOf(resource: JsonObject, place: SourceLocation): LoadUnit {
  return { ...place, entries: [put(resource, undefined)], isAtomic: false }
}

/** What a unit of a single resource writes, `Patient/1`; undefined where a condition decides. */
export const nameOf = ({ entries: [entry] }: LoadUnit): string | undefined =>
  entry?.id === undefined ? undefined : `${entry.type}/${entry.id}`

/** A PUT under the resource's own id, else the UUID of its fullUrl, else one made from its content. */
function put(resource: JsonObject, fullUrl: string | undefined): TransactionEntry {
  const type = String(resource['resourceType'])
  if (!isResourceType(type)) throw new Error(`"${type.slice(0, 60)}" is not a resource type of R4`)
  const own = ownId(resource)
  const id = own ?? /^urn:uuid:([0-9a-f-]{36})$/i.exec(fullUrl ?? '')?.[1]?.toLowerCase() ?? contentId(resource)
  return {
    fullUrl,
    method: 'PUT',
    type,
    id,
    query: undefined,
    resource: own === undefined ? { ...resource, id } : resource,
  }
}

/** @throws Error for an id under which nothing can be stored. */
function ownId({ id }: JsonObject): string | undefined {
  if (id === undefined || (typeof id === 'string' && idShape.test(id))) return id
  throw new Error(
    `${JSON.stringify(id).slice(0, 80)} is not an id: an id has 1 to 64 letters, digits, hyphens and dots`,
  )
}

/** A UUID version 8 (RFC 9562 §5.8) from the content: the same resource gets the same id. */
function contentId(resource: JsonObject): string {
  const hex = createHash('sha256').update(JSON.stringify(resource)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Nothing for a request that only reads. Addresses of another server count by their last two parts. */
function requested(entry: JsonObject): TransactionEntry[] {
  const request = isObject(entry['request']) ? entry['request'] : {}
  const { method, url = '', ifNoneExist } = request
  const resource = isObject(entry['resource']) ? entry['resource'] : undefined
  const fullUrl = fullUrlOf(entry)
  const [path = '', query] = String(url).split('?', 2)
  const [, type = '', id] = /([A-Z][A-Za-z]+)(?:\/([A-Za-z0-9.-]{1,64}))?$/.exec(path) ?? []
  if (method === 'GET' || method === 'HEAD') return []
  if (method === 'POST' && resource) {
    return typeof ifNoneExist === 'string'
      ? [{ fullUrl, method, type, id: undefined, query: ifNoneExist, resource }]
      : [put(resource, fullUrl)]
  }
  if (method === 'PUT' && resource)
    return query === undefined ? [put(resource, fullUrl)] : [{ fullUrl, method, type, id: undefined, query, resource }]
  if (method === 'DELETE' && isResourceType(type)) return [{ fullUrl, method, type, id, query, resource: undefined }]
  throw new Error(`an entry has the request ${String(method)} ${path.slice(0, 80)}, which cannot be loaded`)
}
