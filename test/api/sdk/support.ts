// The people, the clients and the record that tests of the SDK operations share.

import { mint } from '../../../src/lib/health-id.ts'
import { terminology } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import type { Service } from '../../support/service.ts'
import { healthIdSystem } from '../connect/support.ts'

/** Amina has a record; Samuel has none. */
export const amina = 'CM-TQYE-6SRK-YQ6S'
export const samuel = 'CM-72GS-8CYN-J8XR'
export const unregistered = mint('CM')
export const wrongCheck = 'CM-TQYE-6SRK-YQ6T'

export const about = (of: string, path: string): string => `/api/v1/sdk/patients/${of}/${path}`

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const subject = { reference: 'Patient/amina' }

/** A laboratory result of Amina. */
export const result = (id: string, code: string, days: number, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  category: [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }],
  code: { coding: [{ system: 'http://loinc.org', code }] },
  effectiveDateTime: daysAgo(days),
  subject,
  ...more,
})

const clinicalStatus = (code: string) => ({
  clinicalStatus: { coding: [{ system: `${terminology}/allergyintolerance-clinical`, code }] },
})

const allergy = (id: string, words: string, more: object) => ({
  resourceType: 'AllergyIntolerance',
  id,
  patient: subject,
  code: { text: words },
  ...more,
})

const prescription = (id: string, status: string, words: string) => ({
  resourceType: 'MedicationRequest',
  id,
  status,
  intent: 'order',
  subject,
  medicationCodeableConcept: { text: words },
  authoredOn: daysAgo(800),
})

const visit = (id: string, days: number) => ({
  resourceType: 'Encounter',
  id,
  status: 'finished',
  class: { system: `${terminology}/v3-ActCode`, code: 'AMB' },
  subject,
  period: { start: daysAgo(days), end: daysAgo(days) },
})

/** Stores both people and Amina's record, as the record-keeping system does. */
export async function storeRecord(service: Service): Promise<void> {
  const system = healthIdSystem(service)
  const holder = (id: string, value: string, more: object) => ({
    ...{ resourceType: 'Patient', id, identifier: [{ use: 'official', system, value }] },
    ...more,
  })
  await creatorBy(fhirCaller(() => service))(
    holder('amina', amina, {
      name: [{ family: 'Bello', given: ['Amina'] }],
      gender: 'female',
      birthDate: '1990-02-03',
      extension: [{ url: 'https://health-interop.org/fhir/StructureDefinition/blood-group', valueCode: 'A+' }],
    }),
    holder('samuel', samuel, { name: [{ family: 'Eto', given: ['Samuel'] }] }),
    prescription('metformin', 'active', 'Metformin 500 mg'),
    prescription('amoxicillin', 'completed', 'Amoxicillin 500 mg'),
    allergy('penicillin', 'Penicillin', { ...clinicalStatus('active'), recordedDate: daysAgo(2000) }),
    allergy('nuts', 'Nuts', { ...clinicalStatus('active'), recordedDate: daysAgo(3) }),
    allergy('latex', 'Latex', clinicalStatus('resolved')),
    allergy('by-mistake', 'Dust', {
      verificationStatus: {
        coding: [{ system: `${terminology}/allergyintolerance-verification`, code: 'entered-in-error' }],
      },
    }),
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(day =>
      result(`potassium-${day}`, '2823-3', day, { valueQuantity: { value: day, unit: 'mmol/L' } }),
    ),
    result('old', '2823-3', 500, { valueQuantity: { value: 4, unit: 'mmol/L' } }),
    visit('last-week', 7),
    visit('last-month', 30),
    visit('years-ago', 900),
  )
}
