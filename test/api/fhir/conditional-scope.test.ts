// A condition is a search: a token that may write but not search learns nothing by conditions.
// https://hl7.org/fhir/R4/http.html#cond-update
import { beforeAll, expect, test } from 'vitest'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let writer: string
const call = fhirCaller(() => service)
const store = creatorBy(call)
const patient = { resourceType: 'Patient', id: 'known', identifier: [{ system: 'http://ids', value: 'known' }] }
const condition = 'identifier=http://ids|known'
const patch = { body: '[]', headers: { 'content-type': 'application/json-patch+json' } }

beforeAll(async () => {
  service = await startService()
  await store(patient)
  writer = await service.application.identity.tokens.mint(
    { clientId: 'writer', organizationId: 'clinic', consentExempt: true },
    ['system/Patient.crud'],
  )
})

test.each([
  [
    'creation',
    'POST',
    'Patient',
    {
      body: { ...patient, id: undefined },
      headers: { 'content-type': 'application/fhir+json', 'if-none-exist': condition },
    },
  ],
  ['update', 'PUT', `Patient?${condition}`, { body: patient }],
  ['patch', 'PATCH', `Patient?${condition}`, patch],
  ['deletion', 'DELETE', `Patient?${condition}`, {}],
])('a conditional %s needs the scope for searching', async (_name, method, path, options) => {
  const { status, body } = await call(method, path, { ...options, token: writer })
  expect([status, body.issue[0].code]).toEqual([403, 'forbidden'])
  expect(body.issue[0].diagnostics).toContain('system/Patient.s')
  expect((await call('GET', `Patient?${condition}`)).body.entry).toHaveLength(1)
})

test('what has no condition needs the scope for writing alone', async () => {
  const { status } = await call('POST', 'Patient', { body: { resourceType: 'Patient' }, token: writer })
  expect(status).toBe(201)
})
