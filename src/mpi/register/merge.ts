// Merges two patients that are one person (https://hl7.org/fhir/R4/patient.html#links), and makes them two again.

import { isObject, type JsonObject, objectsIn } from '../../lib/json.ts'
import { referenceTarget } from '../../store/values.ts'
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
    .filter(each => !own.some(other => isSame(each, other)))
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

/** Returns why the merge of these two cannot be undone, or undefined if it can. */
export function undoObstacle(source: JsonObject, target: JsonObject, addresses: Addresses): string | undefined {
  const [from, into] = [source, target].map(({ id }) => `Patient/${String(id)}`)
  if (replacementOf(source, addresses) !== target['id']) return `${from} is not merged into ${into}.`
  const other = replacementOf(target, addresses)
  return other === undefined
    ? undefined
    : `${into} was itself merged into Patient/${other.slice(0, 64)}: undo that merge first.`
}

/**
 * Returns both as two people again: the numbers and the Health ID that the target received from the source are the source's alone.
 * @param before what both were before the merge
 */
export function separated(
  source: JsonObject,
  target: JsonObject,
  before: { readonly source: JsonObject; readonly target: JsonObject },
  addresses: Addresses,
): { readonly source: JsonObject; readonly target: JsonObject } {
  const [own, received] = [source, target].map(patient => objectsIn(patient['identifier']))
  const had = objectsIn(before.target['identifier'])
  const isReceived = (each: JsonObject): boolean =>
    own!.some(other => isSame(each, other)) && !had.some(other => isSame(each, other))
  const isGiven = (each: JsonObject): boolean =>
    isHealthId(each, addresses) &&
    received!.some(other => isSame(each, other) && other['use'] !== 'old' && isReceived(other))
  const [ended, kept] = [
    listed(
      'identifier',
      own!.map(each => (isGiven(each) ? { ...each, use: 'official' } : each)),
    ),
    listed(
      'identifier',
      received!.filter(each => !isReceived(each)),
    ),
  ]
  const { active: _replaced, ...person } = unlinked(source, target, 'replaced-by', addresses)
  const { active } = before.source
  return {
    source: { ...person, ...(active === undefined ? {} : { active }), ...ended },
    target: { ...unlinked(target, source, 'replaces', addresses), ...kept },
  }
}

const isSame = (one: JsonObject, other: JsonObject): boolean =>
  one['system'] === other['system'] && one['value'] === other['value']

/** True if the patient states that the other (id) was merged into it. */
export const isReplacing = (patient: JsonObject, other: string, { base }: Addresses): boolean =>
  objectsIn(patient['link']).some(each => isLink(each, 'replaces', other, base))

/** Returns the patient without its identifiers, and without the link of a type to the other. */
function unlinked(patient: JsonObject, other: JsonObject, type: string, { base }: Addresses): JsonObject {
  const { link, identifier: _identifier, ...rest } = patient
  const links = objectsIn(link).filter(each => !isLink(each, type, String(other['id']), base))
  return { ...rest, ...listed('link', links) }
}

function isLink({ type, other }: JsonObject, wanted: string, id: string, base: Addresses['base']): boolean {
  const reference = isObject(other) ? other['reference'] : undefined
  return type === wanted && typeof reference === 'string' && referenceTarget(reference, base) === `Patient/${id}`
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
