// GET sdk/patients/{health_id}/fhir/{type} and $everything: the same matches as the FHIR endpoint, pages, consent, refusals.
import { beforeAll, describe, expect, test } from 'vitest'
import { membersOf } from '../../../src/store/search/sql-compartment.ts'
import { consentOf, ofType } from '../../support/consents.ts'
import { type Answer, creatorBy, fhirCaller } from '../../support/fhir.ts'
import { actorOf, scenario } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'
import { type Call, clientOf } from '../connect/support.ts'
import { about, amina, result, samuel, storeRecord, unregistered, wrongCheck } from './support.ts'

let service: Service
let hospital: Call
let pharmacy: Call
let stranger: Call
const fhir = fhirCaller(() => service)
const store = creatorBy(fhir)

beforeAll(async () => {
  service = await startService()
  await storeRecord(service)
  await store(
    consentOf('whole', 'amina', 'hospital'),
    consentOf('medicines', 'amina', 'pharmacy', ofType('MedicationRequest')),
    result('of-samuel', '2823-3', 1, { subject: { reference: 'Patient/samuel' } }),
  )
  hospital = await clientOf(service, 'hospital', 'system/*.rs')
  pharmacy = await clientOf(service, 'pharmacy', 'system/*.rs')
  stranger = await clientOf(service, 'stranger', 'system/*.rs', 'labs:write')
})

const idsOf = ({ body }: Answer): string[] =>
  (body.entry ?? []).map((each: { resource: { id: string } }) => each.resource.id)
const linkOf = ({ body }: Answer, relation: string): string | undefined =>
  body.link.find((each: { relation: string }) => each.relation === relation)?.url

test.each([
  ['Observation', 'Observation?patient=Patient/amina'],
  ['Observation?code=2823-3&_sort=date&_count=4', 'Observation?patient=Patient/amina&code=2823-3&_sort=date&_count=4'],
  ['MedicationRequest?status=active', 'MedicationRequest?patient=Patient/amina&status=active'],
  ['AllergyIntolerance?clinical-status=active', 'AllergyIntolerance?patient=Patient/amina&clinical-status=active'],
  ['Encounter?date=ge2000', 'Encounter?patient=Patient/amina&date=ge2000'],
  ['Patient', 'Patient?_id=amina'],
  ['Observation?_summary=count', 'Observation?patient=Patient/amina&_summary=count'],
])('%s finds what the FHIR endpoint finds for the patient', async (path, same) => {
  const [one, other] = [await hospital('GET', about(amina, `fhir/${path}`)), await fhir('GET', same)]
  expect(one.status).toBe(200)
  expect(one.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8')
  expect(one.body).toMatchObject({ resourceType: 'Bundle', type: 'searchset' })
  expect(idsOf(one)).toEqual(idsOf(other))
  expect(one.body.total).toEqual(other.body.total)
})

test('every type of the patient compartment can be searched, and no other', async () => {
  for (const type of membersOf('Patient')) {
    const { status, text } = await hospital('GET', about(amina, `fhir/${type}?_count=1`))
    expect(status, `${type}: ${text}`).toBe(200)
  }
  for (const type of ['Practitioner', 'Nothing', '$match', 'metadata'])
    expect(await hospital('GET', about(amina, `fhir/${type}`))).toMatchObject({
      status: 404,
      body: { error_code: 'NOT_FOUND' },
    })
})

test('links to further pages stay under the path, name no patient, and the same token follows them', async () => {
  const first = await hospital('GET', about(amina, 'fhir/Observation?_count=5&_sort=-date&code=2823-3'))
  const start = `${service.url}${about(amina, 'fhir/Observation')}?`
  const ids = idsOf(first)
  let page = first
  for (let next = linkOf(page, 'next'); next !== undefined; next = linkOf(page, 'next')) {
    expect(next.startsWith(start)).toBe(true)
    expect(next).not.toContain('Patient')
    page = await hospital('GET', next)
    expect(page.status).toBe(200)
    ids.push(...idsOf(page))
  }
  expect(ids).toHaveLength(13)
  expect(new Set(ids).size).toBe(13)
  expect(linkOf(first, 'self')).toBe(`${start}_count=5&_sort=-date&code=2823-3`)
})

test('a criterion about another patient finds nothing of that one', async () => {
  const { status, body } = await hospital('GET', about(amina, 'fhir/Observation?patient=Patient/samuel'))
  const matches = body.entry.filter((each: { search: { mode: string } }) => each.search.mode !== 'outcome')
  expect([status, matches]).toEqual([200, []])
})

test('$everything is what the FHIR endpoint gives, page by page', async () => {
  const whole = await hospital('GET', about(amina, 'fhir/$everything'))
  const same = await fhir('GET', 'Patient/amina/$everything')
  expect(idsOf(whole).toSorted()).toEqual(idsOf(same).toSorted())
  const first = await hospital('GET', about(amina, 'fhir/$everything?_count=10'))
  const next = linkOf(first, 'next')
  expect(next?.startsWith(`${service.url}${about(amina, 'fhir/$everything')}?`)).toBe(true)
  const second = await hospital('GET', next!)
  expect(second.status).toBe(200)
  expect(idsOf(second).some(id => idsOf(first).includes(id))).toBe(false)
})

describe('under consent', () => {
  test('what one consent opens is found, and the rest is refused', async () => {
    expect(idsOf(await pharmacy('GET', about(amina, 'fhir/MedicationRequest?status=active')))).toEqual(['metformin'])
    expect(await pharmacy('GET', about(amina, 'fhir/Observation'))).toMatchObject({
      status: 403,
      body: { error_code: 'CONSENT_REQUIRED' },
    })
    const some = await pharmacy('GET', about(amina, 'fhir/$everything'))
    expect(some.body.entry.map((each: { resource: { resourceType: string } }) => each.resource.resourceType)).toEqual(
      expect.arrayContaining(['MedicationRequest']),
    )
    expect(JSON.stringify(some.body)).not.toContain('potassium')
  })

  test('an open record without matches is empty, not refused', async () => {
    const { status, body } = await hospital('GET', about(amina, 'fhir/Immunization'))
    expect([status, body.entry]).toEqual([200, undefined])
  })

  test('without consent a client finds what it pushed itself, and nothing else', async () => {
    expect(await stranger('GET', about(samuel, 'fhir/Observation'))).toMatchObject({ status: 403 })
    const pushed = await stranger('POST', '/api/v1/sdk/records/lab-results', {
      ...{ health_id: samuel, test_name: 'Haemoglobin', result_value: '11 g/dL' },
    })
    expect(pushed.status).toBe(201)
    const found = await stranger('GET', about(samuel, 'fhir/Observation'))
    expect(idsOf(found).map(id => `Observation/${id}`)).toEqual([pushed.body.resources[0]])
  })
})

describe('on record', () => {
  const reader = actorOf(() => service, 'hospital', 'labs:read')
  scenario('a search is on record as the search that it is', {
    as: reader,
    request: ['GET', about(amina, 'fhir/Observation?_count=1')],
    status: 200,
    events: [],
    audit: ['search Observation'],
  })
  scenario('a type that no scope opens is refused', {
    as: reader,
    request: ['GET', about(amina, 'fhir/Condition')],
    status: 403,
    body: { error_code: 'INSUFFICIENT_SCOPE' },
    events: [],
    audit: ['search Condition (refused)'],
  })
  scenario('an unregistered Health ID is 404', {
    as: reader,
    request: ['GET', about(unregistered, 'fhir/Observation')],
    status: 404,
    body: { error_code: 'PATIENT_NOT_FOUND' },
    events: [],
    audit: ['patient.fhir Observation (refused)'],
  })
  scenario('wrong check symbols are 422', {
    as: reader,
    request: ['GET', about(wrongCheck, 'fhir/$everything')],
    status: 422,
    body: { error_code: 'INVALID_HEALTH_ID' },
    events: [],
    audit: ['patient.fhir $everything (refused)'],
  })
})

test('a wrong parameter is 400 in the shape of the interface', async () => {
  const { status, body } = await hospital('GET', about(amina, 'fhir/Observation?date=yesterday'))
  expect(status).toBe(400)
  expect(body).toMatchObject({ status: 'error', error_code: 'MALFORMED_REQUEST', request_id: expect.any(String) })
})
