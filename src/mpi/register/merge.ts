// Two patients who are one: what becomes of both (https://hl7.org/fhir/R4/patient.html#links). Nothing is lost, so that a merge
// can be undone by taking the links away again.

import { type JsonObject, objectsIn } from '../../lib/json.ts'
import { type Addresses, healthIdsOf, isHealthId, replacementOf } from './patient.ts'

const linkTo = (id: unknown, type: 'replaces' | 'replaced-by'): JsonObject => ({
  other: { reference: `Patient/${String(id)}` },
  type,
})

/** Why these two cannot be merged; undefined if they can. */
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

/** The one who stays: with the numbers of the other as old ones, or with its Health ID, if it has none of its own. */
export function survivor(source: JsonObject, target: JsonObject, addresses: Addresses): JsonObject {
  const own = objectsIn(target['identifier'])
  const isMoved = takesHealthId(target, addresses)
  const added = objectsIn(source['identifier'])
    .filter(({ system, value }) => !own.some(each => each['system'] === system && each['value'] === value))
    .map(each => (isMoved && isHealthId(each, addresses) ? each : { ...each, use: 'old' }))
  return linked({ ...target, ...listed('identifier', [...own, ...added]) }, linkTo(source['id'], 'replaces'))
}

/** The one who is replaced: nobody finds it any more, but its Health ID leads to the other. */
export function replaced(source: JsonObject, target: JsonObject, addresses: Addresses): JsonObject {
  const isMoved = takesHealthId(target, addresses)
  const identifiers = objectsIn(source['identifier']).map(each =>
    isMoved && isHealthId(each, addresses) ? { ...each, use: 'old' } : each,
  )
  return linked({ ...source, active: false, ...listed('identifier', identifiers) }, linkTo(target['id'], 'replaced-by'))
}

/** True if the target has no Health ID: then it takes that of the source, if there is one, which goes on to hold. */
const takesHealthId = (target: JsonObject, addresses: Addresses): boolean =>
  healthIdsOf(target, addresses).current.length === 0

const listed = (name: string, list: readonly JsonObject[]): JsonObject => (list.length > 0 ? { [name]: list } : {})

/** The patient with a link, unless it has that already. */
export function linked(patient: JsonObject, link: JsonObject): JsonObject {
  const links = objectsIn(patient['link'])
  const text = JSON.stringify(link)
  return links.some(each => JSON.stringify(each) === text) ? patient : { ...patient, link: [...links, link] }
}

/** The link that whoever replaces the patient has. */
export const replacesLink = (source: JsonObject): JsonObject => linkTo(source['id'], 'replaces')
