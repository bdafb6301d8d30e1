// The service's built-in resources, beside the stored ones: read by id and found by search, but not writable. A stored
// resource with the same id or URL takes precedence. https://hl7.org/fhir/R4/references.html#canonical

import { Failure } from '../lib/failure.ts'
import type { OwnResource } from '../mapping/own-resources.ts'
import type { Hit } from '../store/search/hit.ts'
import type { SearchRequest } from '../store/search/request.ts'
import type { Store } from '../store/store.ts'
import type { FhirRequest } from './request.ts'

/**
 * Returns a resource of the service in place of one that is not stored. @throws the store's failure, if there is none
 * either.
 */
export function ownById({ maps, segments }: FhirRequest, store: Store, missing: unknown): OwnResource {
  const [type, id] = segments as [string, string]
  const isMissing = missing instanceof Failure && missing.code === 'NOT_FOUND' && store.may(type, 'r')
  const own = isMissing ? maps.own().find(each => each.type === type && each.id === id) : undefined
  if (!own) throw missing
  return own
}

/** What the resources of the service are found by. Any other parameter finds stored resources alone. */
const TESTS: Readonly<Record<string, (own: OwnResource, value: string) => boolean>> = {
  _id: ({ id }, value) => id === value,
  url: ({ url }, value) => url === value,
  'url:below': ({ url }, value) => url === value || url.startsWith(`${value}/`),
  name: ({ resource }, value) =>
    String(resource['name'] ?? '')
      .toLowerCase()
      .startsWith(value.toLowerCase()),
  'name:exact': ({ resource }, value) => resource['name'] === value,
  version: ({ resource }, value) => resource['version'] === value,
  status: ({ resource }, value) => resource['status'] === value,
  kind: ({ resource }, value) => resource['kind'] === value,
}

/** Parameters that say how to answer, and not what to find. */
const SHAPING: ReadonlySet<string> = new Set(
  '_count _total _summary _elements _format _pretty _sort _include _revinclude'.split(' '),
)

/**
 * The resources of the service that a search finds, save those whose URL something stored has. They stand on the first page.
 * A search is about them if it is for one type and names what they are found by.
 */
export function ownMatches(
  { maps }: Pick<FhirRequest, 'maps'>,
  { types, applied, cursor }: SearchRequest,
  stored: readonly Hit[],
): Hit[] {
  const [type, ...others] = types
  const asked = applied.filter(([name]) => !SHAPING.has(name))
  if (others.length > 0 || cursor || asked.length === 0 || asked.some(([name]) => !Object.hasOwn(TESTS, name)))
    return []
  const found = maps.own().filter(own => own.type === type && asked.every(([name, value]) => isMet(own, name, value)))
  const ids = new Set(stored.map(({ id }) => id))
  const urls = found.length > 0 ? new Set(stored.map(urlOf)) : undefined
  return found
    .filter(({ id, url }) => !ids.has(id) && !urls?.has(url))
    .map(({ type: of, id, body }) => ({ type: of, id, body }))
}

/** One of several values, which commas separate. */
function isMet(own: OwnResource, name: string, value: string): boolean {
  return value.split(',').some(each => TESTS[name]!(own, each))
}

function urlOf({ body }: Hit): unknown {
  return (JSON.parse(String(body)) as { readonly url?: unknown }).url
}
