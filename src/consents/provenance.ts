// The recorder of a change of a consent (https://hl7.org/fhir/R4/provenance.html).
import type { JsonObject } from '../lib/json.ts'
import type { ConsentCall, Subject } from './service.ts'

const terminology = 'http://terminology.hl7.org/CodeSystem'

/**
 * @param target the version that was written
 * @param proof how the patient's agreement was obtained
 */
export function provenanceOf(
  { caller }: ConsentCall,
  { patient }: Subject,
  target: string,
  now: Date,
  proof: string | undefined,
): JsonObject {
  const isPatient = caller.kind === 'patient'
  const who = isPatient ? { reference: `Patient/${patient}` } : { reference: `Organization/${caller.organizationId}` }
  return {
    resourceType: 'Provenance',
    target: [{ reference: target }, { reference: `Patient/${patient}` }],
    recorded: now.toISOString(),
    activity: { coding: [{ system: `${terminology}/v3-DataOperation`, code: 'UPDATE' }] },
    agent: [
      {
        type: {
          coding: [
            {
              system: `${terminology}/provenance-participant-type`,
              code: isPatient ? 'author' : 'enterer',
            },
          ],
        },
        who,
      },
    ],
    ...(proof ? { reason: [{ text: `The patient agreed: ${proof}.` }] } : {}),
  }
}
