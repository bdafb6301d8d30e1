// What a client that sees by consent may not write, though it may see it: what would open to it, or to others, what the patient
// has not opened.

import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { objects } from '../../store/values.ts'
import type { Writing } from '../../store/visibility.ts'
import { rulesOf } from './rules.ts'

/** Why the client may not write something so; undefined if it may. @param base address of this server's FHIR endpoint */
export function objectionTo({ type, resource, former }: Writing, organizationId: string, base: string) {
  if (type === 'Consent') return resource && foreign(resource, organizationId, base)
  return type === 'Patient' && mergesOf(resource) !== mergesOf(former) ? merging : undefined
}

/** A consent is recorded by whom it is for: nobody opens a record to others. */
function foreign(consent: JsonObject, organizationId: string, base: string): Failure | undefined {
  const isOwn = rulesOf(consent, base).every(
    ({ effect, organization }) => effect === 'deny' || organization === `Organization/${organizationId}`,
  )
  if (isOwn) return undefined
  return new Failure(
    'FORBIDDEN',
    'This client records consents for its own organisation only: those for others are recorded by them, or by the patient.',
  )
}

/** By whom a patient is replaced, and whom he replaces, in one order. */
function mergesOf(patient: JsonObject | undefined): string {
  const merges = objects(patient?.['link']).filter(({ type }) => type === 'replaces' || type === 'replaced-by')
  return JSON.stringify(merges.map(({ type, other }) => [type, isObject(other) ? other['reference'] : '']).sort())
}

// One person's consents count for both, and the Health ID of one leads to the other.
const merging = new Failure(
  'FORBIDDEN',
  'Who is the same person is recorded by the record-keeping system: this client cannot merge patients, nor undo that.',
)
