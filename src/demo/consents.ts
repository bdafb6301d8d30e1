// Which demo patients have opened their records, to whom and for what.
import type { JsonObject } from '../lib/json.ts'
import { at, loinc, network, organization, reference, terminology } from './fhir.ts'
import type { Person } from './people.ts'

/** All but one have opened their record to the organisation of the demo client, for the purposes that they name. */
export function consents(person: Person): JsonObject[] {
  if (person.purposes.length === 0) return []
  return [
    {
      resourceType: 'Consent',
      id: `${person.id}-consent`,
      extension: [
        { url: 'https://health-interop.org/fhir/StructureDefinition/consent-type', valueCode: 'full_record' },
      ],
      status: 'active',
      scope: {
        coding: [{ system: `${terminology}/consentscope`, code: 'patient-privacy', display: 'Privacy Consent' }],
      },
      category: [{ coding: [{ system: loinc, code: '59284-0', display: 'Patient Consent' }] }],
      patient: reference('Patient', person.id),
      dateTime: at('2026-01-05'),
      performer: [reference('Patient', person.id)],
      organization: [reference('Organization', organization)],
      policy: [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-basic-normal' }],
      provision: {
        type: 'permit',
        period: { start: at('2026-01-05') },
        actor: [
          {
            role: {
              coding: [
                {
                  system: `${terminology}/v3-ParticipationType`,
                  code: 'IRCP',
                  display: 'information recipient',
                },
              ],
            },
            reference: reference('Organization', network),
          },
        ],
        purpose: person.purposes.map(code => ({ system: `${terminology}/v3-ActReason`, code })),
      },
    },
  ]
}
