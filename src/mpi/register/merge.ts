// Merges two patients that are one person (https://hl7.org/fhir/R4/patient.html#links). Nothing is lost, so removing
// the links undoes a merge.

import { type JsonObject, objectsIn } from '../../lib/json.ts'
import { type Addresses, healthIdsOf, isHealthId, replacementOf } from './patient.ts'

const linkTo = (id: unknown, type: 'replaces' | 'replaced-by'): JsonObject => ({
  other: { reference: `Patient/${String(id)}` },
  type,
})

/** Returns why these two cannot be merged, or undefined if they can. */
export function obstacle(source: JsonObject, target: JsonObject, addresses: Addresses): string | undefined {
  if (source['id'] === target['id']) return 'The source and the target are the same Patient.'
  for (const patient of [source, target]) {
    const other = replacementOf(patient, addresses)
    if (other !== undefined)
      return `Patient/${String(patient['id'])} was already merged into Patient/${other.slice(0, 64)}: use that one instead.`
  }
  if (target['active'] === false)
    return `Patient/${String(target['id'])} is not active, so no patient can be merged into it.`
  return undefined
}

/**
 * Returns the surviving patient: with the numbers of the other as old ones, and with its Health ID, if it has none of
 * its own.
 */
export function survivor(source: JsonObject, target: JsonObject, addresses: Addresses): JsonObject {
  const own = objectsIn(target['identifier'])
  const isMoved = takesHealthId(target, addresses)
  const added = objectsIn(source['identifier'])
    .filter(({ system, value }) => !own.some(each => each['system'] === system && each['value'] === value))
    .map(each => (isMoved && isHealthId(each, addresses) ? each : { ...each, use: 'old' }))
  return linked({ ...target, ...listed('identifier', [...own, ...added]) }, linkTo(source['id'], 'replaces'))
}

/** Returns the replaced patient: searches no longer find it, but its Health ID leads to the other. */
export function replaced(source: JsonObject, target: JsonObject, addresses: Addresses): JsonObject {
  const isMoved = takesHealthId(target, addresses)
  const identifiers = objectsIn(source['identifier']).map(each =>
    isMoved && isHealthId(each, addresses) ? { ...each, use: 'old' } : each,
  )
  return linked({ ...source, active: false, ...listed('identifier', identifiers) }, linkTo(target['id'], 'replaced-by'))
}

/** Returns true if the target has no Health ID: then it takes that of the source, if there is one, which stays valid. */
const takesHealthId = (target: JsonObject, addresses: Addresses): boolean =>
  healthIdsOf(target, addresses).current.length === 0

const listed = (name: string, list: readonly JsonObject[]): JsonObject => (list.length > 0 ? { [name]: list } : {})

/** Returns the patient with a link, unless it already has that link. */
export function linked(patient: JsonObject, link: JsonObject): JsonObject {
  const links = objectsIn(patient['link'])
  const text = JSON.stringify(link)
  return links.some(each => JSON.stringify(each) === text) ? patient : { ...patient, link: [...links, link] }
}

/** Returns the link of the patient that replaces this one. */
export const replacesLink = (source: JsonObject): JsonObject => linkTo(source['id'], 'replaces')
