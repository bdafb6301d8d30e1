import { describe, expect, test } from 'vitest'
import { verified } from '../../src/events/occurrence.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { but, derived, healthIdSystem, names } from './support.ts'

const card = { use: 'official', system: healthIdSystem, value: 'CM-TQYE-6SRK-YQ6S' }
const other = { use: 'official', system: healthIdSystem, value: 'GA-0000-0000-0000' }
const file = { system: 'https://interop.example.org/fhir/NamingSystem/external-reference/hcy', value: '4711' }

const ngono: JsonObject = {
  resourceType: 'Patient',
  id: 'it',
  meta: { versionId: '6' },
  identifier: [card],
  name: [{ family: 'Ngono', given: ['Marie'] }],
  gender: 'female',
  birthDate: '1990-02-03',
  managingOrganization: { reference: 'Organization/hcy' },
}

const cases: readonly [string, JsonObject | undefined, JsonObject | undefined, unknown[]][] = [
  [
    'a new patient, with a Health ID',
    ngono,
    undefined,
    [
      ['patient.created', { patient_id: 'it' }],
      ['health_id.created', { patient_id: 'it', health_id: 'CM-TQYE-6SRK-YQ6S', country_code: 'CM' }],
    ],
  ],
  [
    'a new patient without a Health ID',
    but(ngono, { identifier: [file] }),
    undefined,
    [['patient.created', { patient_id: 'it' }]],
  ],
  [
    'a new patient whose only Health ID is a former one',
    but(ngono, { identifier: [but(card, { use: 'old' })] }),
    undefined,
    [['patient.created', { patient_id: 'it' }]],
  ],
  ['a deleted patient', undefined, ngono, []],
  ['a patient of whom nobody knows what was deleted', undefined, undefined, []],
  ['the same again', ngono, structuredClone(ngono), []],
  ['another version, time and narrative', but(ngono, { meta: { versionId: '7' }, text: { div: '<div/>' } }), ngono, []],
  [
    'a name and a telephone',
    but(ngono, { name: [{ family: 'Ngono Biya' }], telecom: [{ system: 'phone', value: '+237 6' }] }),
    ngono,
    [['patient.updated', { patient_id: 'it', changed: ['name', 'telecom'] }]],
  ],
  [
    'a death, by time instead of by yes or no',
    but(ngono, { deceasedDateTime: '2026-01-01' }),
    but(ngono, { deceasedBoolean: true }),
    [['patient.updated', { patient_id: 'it', changed: ['deceased'] }]],
  ],
  [
    'the hour of birth',
    but(ngono, { _birthDate: { extension: [{ url: 'x', valueDateTime: '1990-02-03T04:05:00Z' }] } }),
    ngono,
    [['patient.updated', { patient_id: 'it', changed: ['birthDate'] }]],
  ],
  [
    'a number in the files of a hospital',
    but(ngono, { identifier: [card, file] }),
    ngono,
    [['patient.updated', { patient_id: 'it', changed: ['identifier'] }]],
  ],
  [
    'a Health ID, and nothing else',
    ngono,
    but(ngono, { identifier: [] }),
    [['health_id.created', { patient_id: 'it', health_id: 'CM-TQYE-6SRK-YQ6S', country_code: 'CM' }]],
  ],
  ['a Health ID that is a former one now', but(ngono, { identifier: [but(card, { use: 'old' })] }), ngono, []],
  [
    'a former Health ID that is the current one again',
    ngono,
    but(ngono, { identifier: [but(card, { use: 'old' })] }),
    [],
  ],
  [
    'a Health ID that cannot be one',
    but(ngono, { identifier: [card, { ...other, value: 'GA-0000-0000-0001' }] }),
    ngono,
    [],
  ],
  [
    'two people who are one',
    but(ngono, { active: false, link: [{ type: 'replaced-by', other: { reference: 'Patient/b' } }] }),
    ngono,
    [['patient.updated', { patient_id: 'it', changed: ['active', 'link'] }]],
  ],
]

describe('of a patient is told', () => {
  test.each(cases)('%s', (_name, now, before, expected) => {
    expect(derived('Patient', now, before).map(({ type, data }) => [type, data])).toEqual(expected)
  })

  test('who it is about, where, and to whoever may see the patient', () => {
    expect(derived('Patient', ngono)[0]).toEqual({
      type: 'patient.created',
      source: { type: 'Patient', id: 'it', version: 7 },
      patient: 'it',
      data: { patient_id: 'it' },
      facility: 'hcy',
      audience: 'readers',
    })
  })

  test('everything anew when it comes back after a deletion', () => {
    expect(names('Patient', ngono, undefined)).toEqual(['patient.created', 'health_id.created'])
  })

  test('that its Health ID was verified, to the organisation that did so alone', () => {
    expect(verified({ healthId: card.value, patient: 'it', organization: 'hcy' })).toEqual({
      type: 'health_id.verified',
      source: { type: 'Patient', id: 'it', version: 0 },
      patient: 'it',
      data: { health_id: 'CM-TQYE-6SRK-YQ6S', patient_id: 'it', organization_id: 'hcy' },
      facility: '',
      audience: ['hcy'],
    })
  })
})
