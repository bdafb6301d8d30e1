// What a client that reads by consent may not write, although it may read it: changes that would open, to it or to
// others, what the patient has not opened.

import { Failure } from '../../lib/failure.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import { isReview } from '../../store/index/subject.ts'
import { objects } from '../../store/values.ts'
import type { Writing } from '../../store/visibility.ts'
import { refusesEmergencies, rulesOf } from './rules.ts'

/**
 * Returns the failure if the client may not write this change, otherwise undefined. @param base address of this
 * server's FHIR endpoint
 */
export function objectionTo({ type, resource, former }: Writing, organizationId: string, base: Base) {
  if (type === 'Consent') return resource && (foreign(resource, organizationId, base) ?? closing(resource))
  if (type === 'Task') return resource && isReview(resource, type) ? reviewing : undefined
  if (type !== 'Patient') return undefined
  if (mergesOf(resource) !== mergesOf(former)) return merging
  const held = healthIdsIn(former, base)
  if (held !== none && healthIdsIn(resource, base) !== held) return identifying
  const own = base.naming(`external-reference/${organizationId}`)
  return resource && numbersOf(resource, own, base) !== numbersOf(former, own, base) ? numbering : undefined
}

/** A client records consents for its own organisation only: it neither opens nor closes a record to others. */
function foreign(consent: JsonObject, organizationId: string, base: Base): Failure | undefined {
  const isOwn = rulesOf(consent, base).every(({ organization }) => organization === `Organization/${organizationId}`)
  if (isOwn) return undefined
  return new Failure(
    'FORBIDDEN',
    'This client can record consents for its own organisation only, with that organisation as the actor. Other organisations, or the patient, record theirs.',
  )
}

// Those that wait for an answer would be lost among Tasks that only look like them.
const reviewing = new Failure(
  'FORBIDDEN',
  'Only the service opens reviews: give the Task a code of another system than https://health-interop.org/fhir/CodeSystem/review.',
)

/** In an emergency it is too late to ask who closed a record, and with what right. */
function closing(consent: JsonObject): Failure | undefined {
  if (!refusesEmergencies(consent)) return undefined
  return new Failure(
    'FORBIDDEN',
    'Only the record-keeping system can record a refusal of emergency access, because it closes the record to everyone.',
  )
}

/** Returns the identifiers of the systems, under every address of the data set. */
const identifiersIn = (patient: JsonObject | undefined, is: (system: string) => boolean, base: Base): string => {
  const all = objects(patient?.['identifier']).map(each => ({ ...each, system: base.system(String(each['system'])) }))
  const found: JsonObject[] = all.filter(({ system }) => is(system))
  return JSON.stringify(found.map(({ system, value, use }) => [system, value, use === 'old']).sort())
}

const none = '[]'

/** A patient that holds the Health ID of another patient is taken for that patient. */
const healthIdsIn = (patient: JsonObject | undefined, base: Base): string =>
  identifiersIn(patient, system => system === base.naming('health-id'), base)

const identifying = new Failure(
  'FORBIDDEN',
  'Only the record-keeping system can change a Health ID or delete a Patient that has one.',
)

/** The numbers of a patient at other organisations, by which they find it. @param own the system of the client's own numbers */
const numbersOf = (patient: JsonObject | undefined, own: string, base: Base): string =>
  identifiersIn(patient, system => system.startsWith(base.naming('external-reference/')) && system !== own, base)

const numbering = new Failure(
  'FORBIDDEN',
  'This client can change the patient identifiers of its own organisation only, not those of other organisations.',
)

/** The patient that replaces this one, and those that this one replaces, in a fixed order. */
function mergesOf(patient: JsonObject | undefined): string {
  const merges = objects(patient?.['link']).filter(({ type }) => type === 'replaces' || type === 'replaced-by')
  return JSON.stringify(merges.map(({ type, other }) => [type, (other as JsonObject)['reference']]).sort())
}

// Consents of one merged patient apply to both, and the Health ID of one leads to the other.
const merging = new Failure(
  'FORBIDDEN',
  'Only the record-keeping system can merge patients or undo a merge; this client cannot.',
)
