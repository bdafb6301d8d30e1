// A consent that is refused or revoked, as it stands in FHIR.
import type { JsonObject } from '../lib/json.ts'
import { objects } from '../store/values.ts'

const own = 'https://health-interop.org/fhir/StructureDefinition'
const endReason = `${own}/consent-end-reason`
const revokedAt = `${own}/consent-revoked-at`

/** Returns the same consent, denied or revoked; the extensions are those of the map consent-to-fhir. */
export function ended(consent: JsonObject, answer: 'deny' | 'revoke', moment: string): JsonObject {
  if (answer === 'deny') return { ...consent, status: 'rejected' }
  const kept = objects(consent['extension']).filter(({ url }) => url !== endReason && url !== revokedAt)
  return {
    ...consent,
    status: 'inactive',
    extension: [...kept, { url: endReason, valueCode: 'revoked' }, { url: revokedAt, valueDateTime: moment }],
  }
}
