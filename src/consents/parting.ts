// The part of a Consent for one organisation, and what remains of the Consent without it: pure.

import { isPermissionOf, permits, rulesWhere } from '../access/consent/permits.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { objects, referenceTarget } from '../store/values.ts'

/** Returns true if the Consent permits nothing to any other organisation than this one (id). */
export const isForAlone = (consent: JsonObject, organization: string, base: Base): boolean =>
  rulesWhere(consent, base).every(rule => rule.effect === 'deny' || isPermissionOf(organization)(rule))

/** Returns true if the Consent refuses something. */
export const refuses = (consent: JsonObject, base: Base): boolean =>
  rulesWhere(consent, base).some(({ effect }) => effect === 'deny')

/**
 * Returns the Consent without the permissions of an organisation (id), with every rule about others unchanged;
 * undefined if it cannot be written so.
 */
export function without(consent: JsonObject, organization: string, base: Base): JsonObject | undefined {
  const isOther = (reference: unknown): boolean => !isReference(reference, organization, base)
  const provision = isObject(consent['provision']) ? provisionWithout(consent['provision'], isOther) : undefined
  // Other readers of R4 take a permission without a recipient as one for all.
  if (isObject(consent['provision']) && consent['provision']['actor'] && !provision!['actor']) return undefined
  const keepers = objects(consent['organization']).filter(isOther)
  const { organization: _keepers, ...rest } = consent
  const parted = { ...rest, ...(provision && { provision }), ...(keepers.length > 0 && { organization: keepers }) }
  const about = (each: JsonObject): string[] =>
    rulesWhere(each, base)
      .filter(rule => rule.organization !== `Organization/${organization}`)
      .map(({ from, until, ...rule }) => JSON.stringify([rule, String(from), String(until)]))
  const isSame = JSON.stringify(about(parted)) === JSON.stringify(about(consent))
  return isSame && !permits(parted, organization, base) ? parted : undefined
}

function isReference(value: unknown, organization: string, base: Base): boolean {
  const reference = isObject(value) ? value['reference'] : undefined
  return typeof reference === 'string' && referenceTarget(reference, base) === `Organization/${organization}`
}

/** Returns the provision without the organisation as an actor; nested provisions that are left without an actor are removed. */
function provisionWithout(provision: JsonObject, isOther: (reference: unknown) => boolean): JsonObject {
  const { actor: _actor, provision: _inner, ...rest } = provision
  const actors = objects(provision['actor']).filter(({ reference }) => isOther(reference))
  const inner = objects(provision['provision']).flatMap(each => {
    const parted = provisionWithout(each, isOther)
    return objects(each['actor']).length > 0 && objects(parted['actor']).length === 0 ? [] : [parted]
  })
  return { ...rest, ...(actors.length > 0 && { actor: actors }), ...(inner.length > 0 && { provision: inner }) }
}

/** Elements of a Consent that its part for one organisation shares with it. */
const shared = ['scope', 'category', 'patient', 'performer', 'policy', 'policyRule']

/**
 * Returns the permission of one organisation (id) as a Consent of its own, with the id given: the record of a
 * permission that ends while the Consent stays in force for others.
 */
export function partFor(consent: JsonObject, organization: string, base: Base, id: string): JsonObject {
  const root = isObject(consent['provision']) ? consent['provision'] : {}
  const { provision: _inner, actor, ...terms } = naming(root, organization, base) ?? root
  const own = objects(actor).filter(({ reference }) => isReference(reference, organization, base))
  const reference = { reference: `Organization/${organization}` }
  return {
    resourceType: 'Consent',
    id,
    status: 'active',
    ...Object.fromEntries(shared.flatMap(name => (consent[name] === undefined ? [] : [[name, consent[name]]]))),
    organization: [reference],
    provision: { ...terms, type: 'permit', actor: own.length > 0 ? own : [{ role: recipient, reference }] },
  }
}

const recipient = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType', code: 'IRCP' }],
}

/** Returns the outermost provision that names the organisation. */
function naming(provision: JsonObject, organization: string, base: Base): JsonObject | undefined {
  if (objects(provision['actor']).some(({ reference }) => isReference(reference, organization, base))) return provision
  for (const inner of objects(provision['provision'])) {
    const found = naming(inner, organization, base)
    if (found) return found
  }
  return undefined
}
