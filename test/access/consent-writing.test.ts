// Nobody opens a record to others, or more of it to himself than the patient did, by writing consents.
import { beforeAll, expect, inject, test } from 'vitest'
import { barrier } from '../support/concurrency.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf } from '../support/trail.ts'

let service: Service
let clinic: string
const call = fhirCaller(() => service)
const store = creatorBy(call)
const put = (id: string, body: unknown) =>
  call('PUT', `Consent/${id}`, { token: clinic, body, headers: { accept: 'application/json' } })

beforeAll(async () => {
  service = await startService()
  clinic = await service.application.identity.tokens.mint(
    { clientId: 'clinic-app', organizationId: 'clinic', consentExempt: false },
    ['system/*.cruds'],
  )
  await store(
    { resourceType: 'Patient', id: 'ada' },
    { resourceType: 'Condition', id: 'secret', subject: { reference: 'Patient/ada' }, code: { text: 'secret' } },
    consentOf('all', 'ada', 'clinic'),
    consentOf('but-conditions', 'ada', 'clinic', { type: 'deny', ...ofType('Condition') }),
  )
})

test('a client records consents for its own organisation', async () => {
  expect((await put('own', consentOf('own', 'ada', 'clinic', ofType('Observation')))).status).toBe(201)
  expect((await call('DELETE', 'Consent/own', { token: clinic })).status).toBe(204)
})

test.each([
  ['for another organisation', consentOf('other', 'ada', 'other')],
  [
    'for both',
    consentOf('other', 'ada', 'clinic', {
      provision: [{ type: 'permit', actor: consentOf('x', 'y', 'other').provision.actor }],
    }),
  ],
  [
    'for nobody in particular, kept by another',
    consentOf('other', 'ada', 'x', { actor: undefined }, { organization: [{ reference: 'Organization/other' }] }),
  ],
])('one %s is refused, in transactions too', async (_name, consent) => {
  const { status, body } = await put('other', consent)
  expect([status, body.error_code]).toEqual([403, 'FORBIDDEN'])
  const bundle = {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [{ resource: consent, request: { method: 'PUT', url: 'Consent/other' } }],
  }
  expect((await call('POST', '', { token: clinic, body: bundle })).status).toBe(403)
  expect((await call('GET', 'Consent/other')).status).toBe(404)
})

test('what the patient restricted stays restricted: who sees such a consent cannot change it', async () => {
  expect((await call('GET', 'Condition/secret', { token: clinic })).status).toBe(403)
  expect((await call('GET', 'Consent/but-conditions', { token: clinic })).status).toBe(200)
  const wider = consentOf('but-conditions', 'ada', 'clinic', { type: 'permit' })
  const { status, body } = await put('but-conditions', wider)
  expect([status, body.error_code]).toEqual([403, 'FORBIDDEN'])
  expect((await call('DELETE', 'Consent/but-conditions', { token: clinic })).status).toBe(403)
  const patch = [{ op: 'replace', path: '/status', value: 'inactive' }]
  const headers = { 'content-type': 'application/json-patch+json' }
  expect(
    (await call('PATCH', 'Consent/but-conditions', { token: clinic, body: JSON.stringify(patch), headers })).status,
  ).toBe(403)
  expect((await call('GET', 'Condition/secret', { token: clinic })).status).toBe(403)
})

test('two refusals that are written at the same moment both hold', async () => {
  const told = { code: { text: 'x' }, subject: { reference: 'Patient/ben' } }
  await store(
    { resourceType: 'Patient', id: 'ben' },
    { resourceType: 'Observation', id: 'of-ben', status: 'final', ...told },
    { resourceType: 'Condition', id: 'of-ben', ...told },
    consentOf('ben', 'ben', 'clinic'),
  )
  const database = await databaseOf(service)
  const { lift } = await barrier({ ...inject('server'), database: service.database }, 'consent_grant')
  const types = ['Observation', 'Condition']
  const written = types.map(type =>
    call('PUT', `Consent/no-${type}`, {
      body: consentOf(`no-${type}`, 'ben', 'clinic', { type: 'deny', ...ofType(type) }),
    }),
  )
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await database.query(waiting)).rowCount).toBe(2)
  await lift()
  expect((await Promise.all(written)).map(({ status }) => status)).toEqual([201, 201])
  const seen = await Promise.all(types.map(type => call('GET', `${type}/of-ben`, { token: clinic })))
  expect(seen.map(({ status }) => status)).toEqual([403, 403])
})

test('the record-keeping system records and changes any', async () => {
  const consent = consentOf('by-keeper', 'ada', 'other')
  expect((await call('PUT', 'Consent/by-keeper', { body: consent })).status).toBe(201)
  expect((await call('DELETE', 'Consent/by-keeper')).status).toBe(204)
})
