// Consents that begin or end at the edge of the calendar, as systems write what has no beginning or no end.
import { beforeAll, expect, test } from 'vitest'
import { type Call, clientOf, connectCaller } from '../api/connect/support.ts'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let clinic: Call
const call = fhirCaller(() => service)
const store = creatorBy(call)
const { resolve } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(service, 'clinic', 'system/*.rs', 'consents:read')
})

const sees = async (patient: string) => (await clinic('GET', `/api/fhir/R4/Patient/${patient}`)).status

const ends = [
  '9999',
  '9999-12-31',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:60Z',
  '9999-12-31T23:59:59-05:00',
  '9999-12-31T23:59:59.999-12:00',
]
const starts = ['0001', '0001-01-01', '0001-01-01T00:00:00+01:00', '0001-01-01T00:00:00+14:00']
const periods = [...ends.map(end => ({ end })), ...starts.map(start => ({ start }))]

test.each(periods.map((period, at) => ({ period, patient: `always-${at}` })))(
  'a consent for the time $period opens the record, and a refusal for it closes it',
  async ({ period, patient }) => {
    await store(
      { resourceType: 'Patient', id: patient, name: [{ family: 'Always' }] },
      consentOf(`opens-${patient}`, patient, 'clinic', { period }),
    )
    expect(await sees(patient)).toBe(200)
    await store(consentOf(`closes-${patient}`, patient, 'clinic', { type: 'deny', period }))
    expect(await sees(patient)).toBe(403)
  },
)

test('an end that is later than the year 9999 in UTC is told as it was given', async () => {
  const { body: known } = await resolve({
    first_name: 'Odile',
    last_name: 'Westward',
    date_of_birth: '1981-05-06',
    sex: 'female',
  })
  const end = '9999-12-31T23:59:59-05:00'
  await store(consentOf('westward', known.patient_id, 'clinic', { period: { end } }))
  const { body } = await clinic('GET', `/api/v1/connect/patient/${known.health_id}/consent/status`)
  expect(body).toMatchObject({ status: 'active', expires_at: end })
})
