// The entries of a Bundle, found by the references between them. https://hl7.org/fhir/R4/bundle.html#references

import { splitReference } from '../../fhirpath/reference.ts'
import { isObject } from '../../lib/json.ts'
import type { Json } from './frame.ts'

/** Finds the resource that a reference names; `base` is the address of the server that the referring entry is from. */
export type FindEntry = (reference: string, base: string | undefined) => unknown

const HISTORY = /\/_history\/([A-Za-z0-9\-.]{1,64})$/

/** Finds among the entries of a Bundle. What several entries could be meant by is not found. */
export function entryFinder(bundle: Json): FindEntry {
  let names: ReadonlyMap<string, readonly Json[]> | undefined
  return (reference, base) => {
    names ??= namesOf(bundle)
    const version = HISTORY.exec(reference)?.[1]
    const bare = version === undefined ? reference : reference.replace(HISTORY, '')
    const isRelative = !bare.includes(':')
    const found = names.get(isRelative && base !== undefined ? `${base}/${bare}` : bare) ?? []
    const [one, ...others] = version === undefined ? found : found.filter(each => isVersion(each, version))
    return others.length === 0 ? one : undefined
  }
}

/** The address of the server that the resource of an entry is from: its `fullUrl` without type and id. */
export function baseOfEntry({ fullUrl, resource }: Json): string | undefined {
  if (typeof fullUrl !== 'string' || !isObject(resource)) return undefined
  const end = `/${resource['resourceType']}/${resource['id']}`
  return fullUrl.endsWith(end) ? fullUrl.slice(0, -end.length) : undefined
}

/** Resources by `fullUrl`, and by type and id for references of entries that are from no server. */
function namesOf(bundle: Json): ReadonlyMap<string, readonly Json[]> {
  const names = new Map<string, Json[]>()
  const add = (name: string, resource: Json): void => {
    const list = names.get(name)
    if (!list) names.set(name, [resource])
    else if (list.at(-1) !== resource) list.push(resource)
  }
  for (const entry of Array.isArray(bundle['entry']) ? bundle['entry'] : []) {
    if (!isObject(entry) || !isObject(entry['resource'])) continue
    const { fullUrl, resource } = entry
    if (typeof fullUrl === 'string') add(fullUrl, resource)
    const { type, id } = splitReference(typeof fullUrl === 'string' ? fullUrl : '')
    if (type === resource['resourceType'] && type !== '') add(`${type}/${id}`, resource)
    if (typeof resource['id'] === 'string') add(`${String(resource['resourceType'])}/${resource['id']}`, resource)
  }
  return names
}

function isVersion({ meta }: Json, version: string): boolean {
  return isObject(meta) && meta['versionId'] === version
}
