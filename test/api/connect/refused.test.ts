// Who was refused stands in the trail under the patient whom the request named, and in the patient's own log.
import { beforeAll, expect, test } from 'vitest'
import { issueCode } from '../../../src/identity/enrolment.ts'
import { mint } from '../../../src/lib/health-id.ts'
import { consentOf } from '../../support/consents.ts'
import { type CallOptions, creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { healthIdSystem } from './support.ts'

let service: Service
let clinic: string
let bare: string
let phone: string
const call = fhirCaller(() => service)
const healthId = mint('CM')
const json = { accept: 'application/json', 'content-type': 'application/json' }
const at = (rest: string) => `/api/v1/connect/patient/${healthId}/${rest}`

beforeAll(async () => {
  service = await startService()
  const minted = (clientId: string, scopes: readonly string[]) =>
    service.application.identity.tokens.mint({ clientId, organizationId: 'clinic', consentExempt: false }, scopes)
  clinic = await minted('clinic-app', [
    ...['consents:read', 'consents:write', 'patient:diagnostics:read', 'health_id:verify', 'emergency:access'],
  ])
  bare = await minted('clinic-bare', ['labs:read'])
  const identifier = [{ use: 'official', system: healthIdSystem(service), value: healthId }]
  await creatorBy(call)(
    { resourceType: 'Patient', id: 'ada', active: true, identifier },
    consentOf('no', 'ada', 'clinic', { type: 'deny' }),
  )
  const { code } = await issueCode(service.application.database, 'ada', Date.now())
  const body = JSON.stringify({ health_id: healthId, code })
  phone = (await call('POST', '/api/v1/mobile/enrol', { headers: json, body })).body.token
})

const full = JSON.stringify({ consent_type: 'full_record' })

test.each<[string, number, () => [string, string, CallOptions]]>([
  ['without consent', 403, () => ['GET', at('records'), { token: clinic }]],
  ['with a query that makes no sense', 422, () => ['GET', at('records?type=everything'), { token: clinic }]],
  ['with a time that is none', 422, () => ['GET', at('records?since=soon'), { token: clinic }]],
  [
    'without a reason for an emergency',
    403,
    () => ['GET', at('records'), { token: clinic, headers: { 'x-emergency-access': 'true' } }],
  ],
  ['without the scope', 403, () => ['GET', at('records'), { token: bare }]],
  ['without the scope to look', 403, () => ['GET', at('consent/status'), { token: bare }]],
  ['with nothing to revoke', 409, () => ['POST', at('consent/revoke'), { token: clinic }]],
  ['with nothing to deny', 409, () => ['POST', at('consent/deny'), { token: clinic }]],
  ['against a refusal', 409, () => ['POST', at('consent/grant'), { token: clinic, body: full }]],
  [
    'against a refusal, with a key',
    409,
    () => ['POST', at('consent/grant'), { token: clinic, body: full, headers: { 'idempotency-key': 'once' } }],
  ],
  [
    'for a type that is none',
    422,
    () => ['POST', at('consent/request'), { token: clinic, body: '{"consent_type":"all"}' }],
  ],
  ['with a body that is no JSON', 400, () => ['POST', at('consent/grant'), { token: clinic, body: '{' }]],
  [
    'to search without the scope',
    403,
    () => ['GET', `/api/v1/connect/patient/search?health_id=${healthId}`, { token: bare }],
  ],
  ['to verify without the scope', 403, () => ['GET', `/api/v1/connect/patients/verify/${healthId}`, { token: bare }]],
  [
    'to resolve, named in the body',
    422,
    () => [
      'POST',
      '/api/v1/connect/patients/resolve',
      { token: clinic, body: JSON.stringify({ health_id: healthId, sex: 'x' }) },
    ],
  ],
])('a client that is refused %s is on record under the patient', async (name, status, request) => {
  const [method, path, options] = request()
  const requestId = `refused-${name.replace(/\W/g, '-')}`
  const headers = { ...(method === 'GET' ? {} : json), 'x-request-id': requestId, ...options.headers }
  const reply = await call(method, path, { ...options, headers })
  expect(reply.status, reply.text).toBe(status)
  const rows = await rowsOf(await databaseOf(service), requestId)
  // What a key keeps together is told in several rows, all of them undone.
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) expect([row.outcome, row.patients]).toEqual([4, ['ada']])
  const { body } = await call('GET', 'AuditEvent?patient=Patient/ada&_count=100')
  expect(JSON.stringify(body)).toContain(requestId)
})

test('the patient sees who was refused, and the own refusals', async () => {
  const own = await call('POST', '/api/v1/mobile/consents/no/grant', { token: phone, headers: json })
  expect(own.status).toBe(409)
  const { body } = await call('GET', '/api/v1/mobile/access-log?limit=100', { token: phone })
  const refused = body.data.filter((each: { outcome: string }) => each.outcome === 'refused')
  const clients = new Set(refused.map((each: { client_id: string }) => each.client_id))
  expect(clients).toEqual(new Set(['clinic-app', 'clinic-bare', 'patient/ada']))
})

test.each([mint('CM'), 'CM-0000-0000-0001', 'x'.repeat(90)])('nobody is named by %s', async unknown => {
  const path = `/api/v1/connect/patient/${unknown}/records`
  const { status, headers } = await call('GET', path, { token: clinic })
  expect(status).toBeGreaterThan(403)
  const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
  expect(rows.map(row => [row.outcome, row.patients])).toEqual([[4, []]])
})
