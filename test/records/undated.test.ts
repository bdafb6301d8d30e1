// Records without a clinical date are in every list, at the place that another date of theirs gives them.
import { beforeAll, expect, test } from 'vitest'
import { type Call, clientOf, healthIdSystem } from '../api/connect/support.ts'
import { consentOf, ofType, terminology } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let clinic: Call
const fhir = fhirCaller(() => service)
const store = creatorBy(fhir)
const healthId = 'CM-TQYE-6SRK-YQ6S'
const subject = { reference: 'Patient/amina' }

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

const lab = (id: string, more: object) => ({
  ...{ resourceType: 'Observation', id, status: 'final', subject, valueString: 'negative', code: { text: id } },
  category: [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }],
  ...more,
})

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(service, 'clinic', 'patient:diagnostics:read', 'patients:read')
  await store(
    { resourceType: 'Patient', id: 'amina', identifier: [{ system: healthIdSystem(service), value: healthId }] },
    consentOf('of-amina', 'amina', 'clinic'),
    { resourceType: 'Condition', id: 'no-date', subject, code: { text: 'Asthma' } },
    { resourceType: 'Condition', id: 'dated', subject, code: { text: 'Malaria' }, recordedDate: daysAgo(20) },
    {
      ...{ resourceType: 'MedicationRequest', id: 'no-order-date', status: 'active', intent: 'order', subject },
      medicationCodeableConcept: { text: 'Metformin' },
    },
    {
      ...{ resourceType: 'Encounter', id: 'no-period', status: 'finished', subject },
      class: { system: `${terminology}/v3-ActCode`, code: 'AMB' },
    },
    lab('day-2', { effectiveDateTime: daysAgo(2) }),
    lab('issued-3', { issued: daysAgo(3) }),
    lab('day-4', { effectiveDateTime: daysAgo(4) }),
    lab('issued-5', { issued: daysAgo(5) }),
    lab('issued-500', { issued: daysAgo(500) }),
    lab('day-600', { effectiveDateTime: daysAgo(600) }),
    lab('stored-now', {}),
    ...Array.from({ length: 12 }, (_, day) => lab(`older-${day}`, { effectiveDateTime: daysAgo(50 + day) })),
  )
})

interface Listed {
  readonly id: string
}
const idsOf = (records: readonly Listed[]): string[] => records.map(({ id }) => id)
const records = async (query: string) => {
  const { body } = await clinic('GET', `/api/v1/connect/patient/${healthId}/records?${query}`)
  return body
}
const labs = async (query: string) => idsOf((await records(`type=lab_results&${query}`)).data.lab_results)
const older = Array.from({ length: 12 }, (_, day) => `older-${day}`)

test('without bounds they are among the others', async () => {
  expect(await labs('')).toEqual([
    ...['stored-now', 'day-2', 'issued-3', 'day-4', 'issued-5', ...older, 'issued-500', 'day-600'],
  ])
})

test('`since` and `until` compare the date that stands in', async () => {
  expect(await labs(`since=${daysAgo(4.5)}`)).toEqual(['stored-now', 'day-2', 'issued-3', 'day-4'])
  expect(await labs(`until=${daysAgo(499)}`)).toEqual(['issued-500', 'day-600'])
  expect(await labs(`since=${daysAgo(5.5)}&until=${daysAgo(2.5)}`)).toEqual(['issued-3', 'day-4', 'issued-5'])
})

test('records with no date at all count as of their last change', async () => {
  const { data } = await records(`since=${daysAgo(1)}`)
  expect([idsOf(data.diagnoses), idsOf(data.prescriptions)]).toEqual([['no-date'], ['no-order-date']])
  expect(idsOf((await records(`since=${daysAgo(30)}`)).data.diagnoses)).toEqual(['no-date', 'dated'])
})

test.each([1, 2, 3, 7])('pages of %i have each record once, in the same order', async limit => {
  const since = daysAgo(550)
  const found: string[] = []
  let cursor = ''
  do {
    const body = await records(`type=lab_results&since=${since}&limit=${limit}${cursor}`)
    found.push(...idsOf(body.data.lab_results))
    cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
  } while (cursor)
  expect(found).toEqual(['stored-now', 'day-2', 'issued-3', 'day-4', 'issued-5', ...older, 'issued-500'])
})

test('the summary has them among the newest', async () => {
  const { body } = await clinic('GET', `/api/v1/sdk/patients/${healthId}/summary`)
  expect(idsOf(body.recent_labs)).toEqual([
    ...['stored-now', 'day-2', 'issued-3', 'day-4', 'issued-5', ...older.slice(0, 5)],
  ])
  expect(idsOf(body.recent_visits)).toEqual(['no-period'])
  expect(idsOf(body.active_medications)).toEqual(['no-order-date'])
  expect(body.truncated).toEqual(['recent_labs'])
})

test('a consent that opens no results opens none of these', async () => {
  await fhir('PUT', 'Consent/of-amina', { body: consentOf('of-amina', 'amina', 'clinic', ofType('Condition')) })
  const { data, withheld } = await records('')
  expect([Object.keys(data), withheld]).toEqual([['diagnoses'], ['prescriptions', 'lab_results', 'vitals']])
  const sparing = { type: 'deny', ...ofType('Observation') }
  await fhir('PUT', 'Consent/of-amina', { body: consentOf('of-amina', 'amina', 'clinic', { provision: [sparing] }) })
  expect(Object.keys((await records('')).data)).not.toContain('lab_results')
})
