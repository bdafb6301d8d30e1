// POST sdk/consents/requests: the request, what it repeats, and what is refused; then the grant that answers it.
import { beforeAll, expect, test } from 'vitest'
import { actorOf, scenario } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'
import { type Call, clientOf } from '../connect/support.ts'
import { about, amina, storeRecord, unregistered } from './support.ts'

let service: Service
let hospital: Call
const path = '/api/v1/sdk/consents/requests'
const asked = { health_id: amina, purpose: 'treatment', requested_scopes: ['patients:read', 'labs:read'] }
const actor = actorOf(() => service, 'hospital', 'consents:write')
const json = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

beforeAll(async () => {
  service = await startService()
  await storeRecord(service)
  hospital = await clientOf(service, 'hospital', 'consents:write', 'consents:read', 'patients:read', 'labs:read')
})

scenario('a request is pending, and an event', {
  as: actor,
  request: ['POST', path, json({ ...asked, purpose: 'research' })],
  status: 202,
  body: { health_id: amina, status: 'pending', purpose: 'research', requested_scopes: asked.requested_scopes },
  events: ['consent.requested'],
  audit: ['search Consent', 'update Consent', 'create Provenance'],
})

test('the same request is answered with the same consent, and expires in 30 days', async () => {
  const [first, second] = [await hospital('POST', path, asked), await hospital('POST', path, asked)]
  expect(first.status).toBe(202)
  expect(second.body).toEqual(first.body)
  const days = (Date.parse(first.body.expires_at) - Date.now()) / 86_400_000
  expect(Math.round(days)).toBe(30)
})

test('a grant opens what was requested, and no more', async () => {
  expect((await hospital('GET', about(amina, 'fhir/Observation'))).status).toBe(403)
  const granted = await hospital('POST', `/api/v1/connect/patient/${amina}/consent/grant`, {
    consent_type: 'full_record',
    scopes: ['labs:read'],
    verification_method: 'in_person',
  })
  expect(granted.status).toBe(201)
  expect((await hospital('GET', about(amina, 'fhir/Observation'))).status).toBe(200)
  expect((await hospital('GET', about(amina, 'fhir/AllergyIntolerance'))).status).toBe(403)
})

scenario('an unknown scope is refused with those that a patient can open', {
  as: actor,
  request: ['POST', path, json({ ...asked, requested_scopes: ['labs:reed'] })],
  status: 422,
  body: {
    error_code: 'VALIDATION_FAILED',
    details: [
      {
        field: 'requested_scopes.0',
        code: 'unknown',
        message: expect.stringMatching(/did you mean `labs:read`\? A patient can open .*patients:read.*labs:read/i),
      },
    ],
  },
  events: [],
  audit: ['consent.request (refused)'],
})
scenario('scopes that open nothing of a record are refused', {
  as: actor,
  request: ['POST', path, json({ ...asked, requested_scopes: ['webhooks:manage'] })],
  status: 422,
  body: { details: [{ field: 'requested_scopes', code: 'empty' }] },
  events: [],
  audit: ['consent.request (refused)'],
})
scenario('each member is required', {
  as: actor,
  request: ['POST', path, json({})],
  status: 422,
  body: { details: [{ field: 'health_id' }, { field: 'purpose' }, { field: 'requested_scopes' }] },
  events: [],
  audit: ['consent.request (refused)'],
})
scenario('an unregistered Health ID is 404', {
  as: actor,
  request: ['POST', path, json({ ...asked, health_id: unregistered })],
  status: 404,
  body: { error_code: 'PATIENT_NOT_FOUND', details: [{ field: 'health_id' }] },
  events: [],
  audit: ['consent.request (refused)'],
})
