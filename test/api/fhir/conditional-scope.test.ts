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

const through = ['_has:Condition:patient:code=hiv', 'organization.name=Alpha', '_filter=organization.name eq Alpha']

test.each(through)(
  'a condition that goes through another type (%s) needs the scope for searching that, too',
  async way => {
    const token = await service.application.identity.tokens.mint(
      { clientId: 'narrow', organizationId: 'clinic', consentExempt: true },
      ['system/Patient.cruds'],
    )
    const query = `${condition}&${way}`
    const address = `Patient?${query.replaceAll(' ', '%20')}`
    const creation = { 'content-type': 'application/fhir+json', 'if-none-exist': query }
    const reference = {
      resource: { resourceType: 'Patient', link: [{ type: 'seealso', other: { reference: address } }] },
    }
    const bundle = (type: string, entry: object) => ({ body: { resourceType: 'Bundle', type, entry: [entry] } })
    const replies = [
      await call('GET', address, { token }),
      await call('POST', 'Patient', { token, body: { ...patient, id: undefined }, headers: creation }),
      await call('PUT', address, { token, body: patient }),
      await call('PATCH', address, { token, ...patch }),
      await call('DELETE', address, { token }),
      await call('POST', '', { token, ...bundle('transaction', { request: { method: 'DELETE', url: address } }) }),
      await call('POST', '', {
        token,
        ...bundle('transaction', { ...reference, request: { method: 'POST', url: 'Patient' } }),
      }),
    ]
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 403))
    const batch = await call('POST', '', { token, ...bundle('batch', { request: { method: 'DELETE', url: address } }) })
    expect(batch.body.entry[0].response.status).toContain('403')
    expect((await call('GET', `Patient?${condition}`)).body.entry).toHaveLength(1)
  },
)

test('what has no condition needs the scope for writing alone', async () => {
  const { status } = await call('POST', 'Patient', { body: { resourceType: 'Patient' }, token: writer })
  expect(status).toBe(201)
})
