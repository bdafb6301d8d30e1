// What a client that sees by consent may not write, though it may see it: what would open to it, or to others, what the patient
// has not opened.

import { Failure } from '../../lib/failure.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import { objects } from '../../store/values.ts'
import type { Writing } from '../../store/visibility.ts'
import { refusesEmergencies, rulesOf } from './rules.ts'

/** Why the client may not write something so; undefined if it may. @param base address of this server's FHIR endpoint */
export function objectionTo({ type, resource, former }: Writing, organizationId: string, base: Base) {
  if (type === 'Consent') return resource && (foreign(resource, organizationId, base) ?? closing(resource))
  if (type !== 'Patient') return undefined
  if (mergesOf(resource) !== mergesOf(former)) return merging
  const held = healthIdsIn(former, base)
  if (held !== none && healthIdsIn(resource, base) !== held) return identifying
  const own = base.naming(`external-reference/${organizationId}`)
  return resource && numbersOf(resource, own, base) !== numbersOf(former, own, base) ? numbering : undefined
}

/** A consent is recorded by whom it is for: nobody opens a record to others, nor closes it to them. */
function foreign(consent: JsonObject, organizationId: string, base: Base): Failure | undefined {
  const isOwn = rulesOf(consent, base).every(({ organization }) => organization === `Organization/${organizationId}`)
  if (isOwn) return undefined
  return new Failure(
    'FORBIDDEN',
    'This client can record consents for its own organisation only, with that organisation as the actor. Other organisations, or the patient, record theirs.',
  )
}

/** In an emergency it is too late to ask who has closed a record, and whether he was to. */
function closing(consent: JsonObject): Failure | undefined {
  if (!refusesEmergencies(consent)) return undefined
  return new Failure(
    'FORBIDDEN',
    'Only the record-keeping system can record a refusal of emergency access, because it closes the record to everyone.',
  )
}

/** The identifiers of the systems, whichever address of the data set they were written with. */
const identifiersIn = (patient: JsonObject | undefined, is: (system: string) => boolean, base: Base): string => {
  const all = objects(patient?.['identifier']).map(each => ({ ...each, system: base.system(String(each['system'])) }))
  const found: JsonObject[] = all.filter(({ system }) => is(system))
  return JSON.stringify(found.map(({ system, value, use }) => [system, value, use === 'old']).sort())
}

const none = '[]'

/** Whoever held the Health ID of another would be taken for that one by everybody. */
const healthIdsIn = (patient: JsonObject | undefined, base: Base): string =>
  identifiersIn(patient, system => system === base.naming('health-id'), base)

const identifying = new Failure(
  'FORBIDDEN',
  'Only the record-keeping system can change a Health ID or delete a Patient that has one.',
)

/** The numbers that other organisations have for a patient: by them, they find it. @param own the system of the client's own */
const numbersOf = (patient: JsonObject | undefined, own: string, base: Base): string =>
  identifiersIn(patient, system => system.startsWith(base.naming('external-reference/')) && system !== own, base)

const numbering = new Failure(
  'FORBIDDEN',
  'This client can change the patient identifiers of its own organisation only, not those of other organisations.',
)

/** By whom a patient is replaced, and whom he replaces, in one order. */
function mergesOf(patient: JsonObject | undefined): string {
  const merges = objects(patient?.['link']).filter(({ type }) => type === 'replaces' || type === 'replaced-by')
  return JSON.stringify(merges.map(({ type, other }) => [type, (other as JsonObject)['reference']]).sort())
}

// One person's consents count for both, and the Health ID of one leads to the other.
const merging = new Failure(
  'FORBIDDEN',
  'Only the record-keeping system can merge patients or undo a merge; this client cannot.',
)
