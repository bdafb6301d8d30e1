// Who acts in scenarios: a hospital, a client of it with few scopes, and a telephone; and the patients whom they mean.
import { beforeAll, expect } from 'vitest'
import { issueCode } from '../../src/identity/enrolment.ts'
import { healthIdSystem } from '../api/connect/support.ts'
import { consentOf } from './consents.ts'
import { creatorBy, fhirCaller } from './fhir.ts'
import { type Actor, actorOf } from './scenario.ts'
import { type Service, startService } from './service.ts'

/** Health IDs. Amina has opened her record to the hospital; Samuel has not; Rose decides by telephone. */
export const amina = 'CM-TQYE-6SRK-YQ6S'
export const samuel = 'CM-72GS-8CYN-J8XR'
const rose = 'CM-9C1T-3NR9-A9HC'

/** A result of the patient (id). */
export const haemoglobin = (id: string, patient: string, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
  subject: { reference: `Patient/${patient}` },
  ...more,
})

const scopes = ['patients:read', 'patients:write', 'health_id:verify', 'patient:diagnostics:read', 'consents:write']

/** Starts a service for the test file, and stores before its first test what the actors find. */
export function startCast() {
  let service: Service
  let phoneToken: string
  const call = fhirCaller(() => service)
  const store = creatorBy(call)
  const holder = (id: string, value: string, more: object) => ({
    resourceType: 'Patient',
    id,
    identifier: [{ use: 'official', system: healthIdSystem(service), value }],
    ...more,
  })
  beforeAll(async () => {
    service = await startService()
    await store(
      holder('amina', amina, { name: [{ family: 'Bello', given: ['Amina'] }], birthDate: '1990-02-03' }),
      holder('samuel', samuel, { name: [{ family: 'Eto', given: ['Samuel'] }], birthDate: '1981-03-10' }),
      holder('rose', rose, { name: [{ family: 'Abena', given: ['Rose'] }], birthDate: '1961-04-05' }),
      haemoglobin('of-amina', 'amina'),
      haemoglobin('of-samuel', 'samuel'),
      {
        resourceType: 'Flag',
        id: 'falls',
        status: 'active',
        code: { text: 'x' },
        subject: { reference: 'Patient/amina' },
      },
      consentOf('by-amina', 'amina', 'hospital'),
      consentOf('asked-of-rose', 'rose', 'hospital', {}, { status: 'proposed' }),
    )
    const { code } = await issueCode(service.application.database, 'rose', Date.now())
    const enrolled = await call('POST', '/api/v1/mobile/enrol', {
      body: JSON.stringify({ health_id: rose, code }),
      headers: { 'content-type': 'application/json' },
    })
    expect(enrolled.status, enrolled.text).toBe(201)
    phoneToken = enrolled.body.token
  })
  return {
    hospital: actorOf(() => service, 'hospital', ...scopes, 'pharmacy:write', 'system/*.cruds'),
    narrow: actorOf(() => service, 'hospital', 'system/Observation.rs'),
    phone: { service: () => service, token: async () => phoneToken } satisfies Actor,
  }
}
