// A telephone stays that of the person who enrolled it, whatever becomes of their Health ID and of their record.
import { beforeAll, describe, expect, test } from 'vitest'
import { issueCode } from '../../../src/identity/enrolment.ts'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { type Call, clientOf, connectCaller, healthIdSystem } from '../connect/support.ts'

let service: Service
let clinic: Call
const call = fhirCaller(() => service)
const { resolve } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(service, 'clinic', 'consents:write')
})

interface Person {
  readonly healthId: string
  readonly patient: string
}

const families = ['Abanda', 'Bikoko', 'Chofor', 'Dipoko', 'Eyenga', 'Fotso']

async function registered(): Promise<Person> {
  const { body } = await resolve({
    first_name: 'Marthe',
    last_name: families.pop()!,
    date_of_birth: `19${50 + 7 * families.length}-03-07`,
    sex: 'female',
  })
  return { healthId: body.health_id, patient: body.patient_id }
}

/** The telephone of whoever enrols with the Health ID and the code of the patient. */
async function telephone({ healthId, patient }: Person): Promise<(path: string) => Promise<Answer>> {
  const { code } = await issueCode(service.application.database, patient, Date.now())
  const { body } = await call('POST', '/api/v1/mobile/enrol', {
    body: JSON.stringify({ health_id: healthId, code }),
    headers: { 'content-type': 'application/json' },
  })
  return path => call('GET', `/api/v1/mobile/${path}`, { token: body.token })
}

const ask = async ({ healthId }: Person) =>
  (await clinic('POST', `/api/v1/connect/patient/${healthId}/consent/request`, { consent_type: 'full_record' })).body

/** Replaces the Health IDs of a patient. */
async function give({ patient }: Person, ...healthIds: string[]): Promise<void> {
  const { body } = await call('GET', `Patient/${patient}`)
  const { link: _link, ...known } = body
  const identifier = healthIds.map(value => ({ use: 'official', system: healthIdSystem(service), value }))
  const stored = await call('PUT', `Patient/${patient}`, {
    body: { ...known, active: true, identifier: [...identifier, { system: 'urn:file', value: patient }] },
  })
  expect(stored.status, stored.text).toBe(200)
}

async function merge(source: Person, target: Person): Promise<void> {
  const named = (name: string, { patient }: Person) => ({ name, valueReference: { reference: `Patient/${patient}` } })
  const { status, text } = await call('POST', 'Patient/$merge', {
    body: { resourceType: 'Parameters', parameter: [named('source-patient', source), named('target-patient', target)] },
  })
  expect(status, text).toBe(200)
}

describe('a telephone', () => {
  test('does not become that of the person to whom the Health ID of its owner is given', async () => {
    const [ada, ben] = [await registered(), await registered()]
    const phone = await telephone(ada)
    await give(ada)
    await give(ben, ada.healthId)
    await ask(ada)
    for (const path of ['consents', 'access-log']) {
      const { status, body } = await phone(path)
      expect([status, body.error_code], path).toEqual([401, 'TOKEN_INVALID'])
    }
  })

  test('is that of the record with which the one of its owner was merged', async () => {
    const [ada, same] = [await registered(), await registered()]
    const phone = await telephone(ada)
    await merge(ada, same)
    const asked = await ask(same)
    expect((await phone('consents')).body.data).toEqual([asked])
  })

  test('that was enrolled with a Health ID of a record merged by mistake ends when the merge is undone', async () => {
    const [ada, ben] = [await registered(), await registered()]
    await merge(ada, ben)
    const phone = await telephone({ ...ben, healthId: ada.healthId })
    expect((await phone('consents')).status).toBe(200)
    await give(ben, ben.healthId)
    await give(ada, ada.healthId)
    await ask(ben)
    expect((await phone('consents')).status).toBe(401)
  })
})
