// GET sdk/patients/{health_id}/summary: its sections, the blood group, what consent withholds, refusals, and the trail.
import { beforeAll, describe, expect, test } from 'vitest'
import { consentOf, ofType } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { actorOf, scenario } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'
import { type Call, clientOf } from '../connect/support.ts'
import { about, amina, result, samuel, storeRecord, unregistered, wrongCheck } from './support.ts'

let service: Service
let hospital: Call
let pharmacy: Call
const fhir = fhirCaller(() => service)
const store = creatorBy(fhir)
const summary = about(amina, 'summary')

beforeAll(async () => {
  service = await startService()
  await storeRecord(service)
  hospital = await clientOf(service, 'hospital', 'patients:read')
  pharmacy = await clientOf(service, 'pharmacy', 'patients:read')
  await store(
    consentOf('whole', 'amina', 'hospital'),
    consentOf('medicines', 'amina', 'pharmacy', ofType('MedicationRequest', 'AllergyIntolerance')),
  )
})

const names = (records: readonly Record<string, unknown>[], field: string) => records.map(each => each[field])

test('a summary lists what is active whatever its age, and what is recent newest first', async () => {
  const { status, body, headers } = await hospital('GET', summary)
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toMatchObject({ health_id: amina, withheld: [], truncated: ['recent_labs'], consent_id: 'whole' })
  expect(body.patient).toEqual({
    ...{ health_id: amina, first_name: 'Amina', last_name: 'Bello', date_of_birth: '1990-02-03', sex: 'female' },
    blood_group: 'A+',
  })
  expect(names(body.active_medications, 'medication_name')).toEqual(['Metformin 500 mg'])
  expect(names(body.active_allergies, 'substance')).toEqual(['Nuts', 'Penicillin'])
  expect(names(body.recent_labs, 'id')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(day => `potassium-${day}`))
  expect(names(body.recent_visits, 'id')).toEqual(['last-week', 'last-month'])
})

test('a Health ID may be written in any case, with spaces or dashes', async () => {
  const { body } = await hospital('GET', about(encodeURIComponent(' cm tqye-6srk yq6s '), 'summary'))
  expect(body.health_id).toBe(amina)
})

test('sections that the consent does not open are empty and named, the person among them', async () => {
  const { status, body } = await pharmacy('GET', summary)
  expect(status).toBe(200)
  expect(body.withheld).toEqual(['patient', 'recent_labs', 'recent_visits'])
  expect(body.patient).toEqual({
    ...{ health_id: amina, first_name: null, last_name: null, date_of_birth: null, sex: null, blood_group: null },
  })
  expect([body.recent_labs, body.recent_visits]).toEqual([[], []])
  expect(names(body.active_medications, 'id')).toEqual(['metformin'])
  expect(body.consent_id).toBe('medicines')
})

describe('the blood group', () => {
  const group = async () => (await hospital('GET', summary)).body.patient.blood_group
  const snomed = (code: string) => ({ valueCodeableConcept: { coding: [{ system: 'http://snomed.info/sct', code }] } })

  test('is that of the newest released test, before what was recorded at registration', async () => {
    await store(result('abo-rh', '882-1', 40, snomed('278147001')))
    expect(await group()).toBe('O+')
    await store(result('not-released', '882-1', 1, { ...snomed('278152006'), status: 'preliminary' }))
    expect(await group()).toBe('O+')
    await store(result('newer', '882-1', 20, { valueString: 'AB negative' }))
    expect(await group()).toBe('AB-')
  })

  test('may come from two tests, ABO and Rh(D)', async () => {
    await store(result('abo', '883-9', 10, { valueString: 'B' }), result('rh', '10331-7', 9, { valueString: 'pos' }))
    expect(await group()).toBe('B+')
  })

  test('that is tested in part is completed by the register only where both agree', async () => {
    const half = async (id: string, value: string) => {
      await store(
        { ...patientOf(id), extension: [{ url: registered, valueCode: 'A-' }] },
        consentOf(`by-${id}`, id, 'hospital'),
      )
      await store(result(`abo-of-${id}`, '883-9', 1, { valueString: value, subject: { reference: `Patient/${id}` } }))
      const { body } = await hospital('GET', about(healthIds[id]!, 'summary'))
      return body.patient.blood_group
    }
    expect(await half('rose', 'A')).toBe('A-')
    expect(await half('paul', 'O')).toBeNull()
  })
})

const registered = 'https://health-interop.org/fhir/StructureDefinition/blood-group'
const healthIds: Readonly<Record<string, string>> = { rose: 'CM-9C1T-3NR9-A9HC', paul: 'CM-6TTH-APZW-3HP1' }
const patientOf = (id: string) => ({
  resourceType: 'Patient',
  id,
  identifier: [{ use: 'official', system: `${service.url}/fhir/NamingSystem/health-id`, value: healthIds[id] }],
})

describe('on record', () => {
  const reader = actorOf(() => service, 'hospital', 'patients:read')
  const stranger = actorOf(() => service, 'stranger', 'patients:read')
  const clerk = actorOf(() => service, 'hospital', 'labs:read')

  scenario('a summary is one entry of the audit trail, and no event', {
    as: reader,
    request: ['GET', summary],
    status: 200,
    events: [],
    audit: ['patient.summary'],
  })
  scenario('without consent a summary is refused, and the refusal is on record', {
    as: stranger,
    request: ['GET', summary],
    status: 403,
    body: { error_code: 'CONSENT_REQUIRED' },
    events: [],
    audit: ['patient.summary (refused)'],
  })
  scenario('in a declared emergency a summary is open', {
    as: actorOf(() => service, 'stranger', 'patients:read', 'emergency:access'),
    request: [
      'GET',
      about(samuel, 'summary'),
      { headers: { 'x-emergency-access': 'true', 'x-emergency-reason': 'unconscious after an accident' } },
    ],
    status: 200,
    body: { withheld: [], consent_id: null },
    events: [],
    audit: ['emergency Patient', 'patient.summary'],
  })
  scenario('a token without patients:read gets no summary', {
    as: clerk,
    request: ['GET', summary],
    status: 403,
    body: { error_code: 'INSUFFICIENT_SCOPE' },
    events: [],
    audit: ['patient.summary (refused)'],
  })
  scenario('a Health ID that is not registered is 404', {
    as: reader,
    request: ['GET', about(unregistered, 'summary')],
    status: 404,
    body: { error_code: 'PATIENT_NOT_FOUND', details: [{ field: 'path.health_id', code: 'not-found' }] },
    events: [],
    audit: ['patient.summary (refused)'],
  })
  scenario('a Health ID with wrong check symbols is 422', {
    as: reader,
    request: ['GET', about(wrongCheck, 'summary')],
    status: 422,
    body: { error_code: 'INVALID_HEALTH_ID', details: [{ field: 'path.health_id' }] },
    events: [],
    audit: ['patient.summary (refused)'],
  })
})
