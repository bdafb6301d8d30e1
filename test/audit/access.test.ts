import type pg from 'pg'
import { beforeAll, expect, inject, test } from 'vitest'
import { type AuditRow, auditColumns } from '../../src/audit/rows.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { barrier } from '../support/concurrency.ts'
import { type CallOptions, creatorBy, fhirCaller } from '../support/fhir.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf, pendingIn, rowsOf } from '../support/trail.ts'

let service: Service
let database: pg.Client
const call = fhirCaller(() => service)
let requests = 0

/** Calls, and gives the rows that are in the database when the answer is there. */
async function traced(method: string, path: string, options: CallOptions = {}) {
  const requestId = `audit-test-${requests++}`
  const answer = await call(method, path, {
    ...options,
    headers: { 'x-request-id': requestId, ...options.headers },
  })
  return { answer, rows: await rowsOf(database, requestId) }
}

const short = ({ action, interaction, outcome, problem, resource_type, resource_id, patients, resources }: AuditRow) =>
  [action, interaction, outcome, problem, resource_type, resource_id, patients.join(','), resources].join(' | ')

const patient = { resourceType: 'Patient', id: 'amina', name: [{ family: 'Bello' }] }
const observation = {
  resourceType: 'Observation',
  id: 'pressure',
  status: 'final',
  code: { text: 'blood pressure' },
  subject: { reference: 'Patient/amina' },
}

beforeAll(async () => {
  service = await startService()
  database = await databaseOf(service)
  await creatorBy(call)(patient, observation, { ...observation, id: 'pulse' })
})

test('a read leaves who read what of whom, and with which token', async () => {
  const asked = new Date()
  const { answer, rows } = await traced('GET', 'Observation/pressure')
  expect(answer.status).toBe(200)
  expect(rows.map(short)).toEqual(['R | read | 0 |  | Observation | pressure | amina | 1'])
  expect(rows[0]).toMatchObject({
    client_id: demoClient.id,
    organization_id: demoClient.organizationId,
    address: '127.0.0.1',
    version: 1,
  })
  expect(rows[0]!.token_id).toMatch(/^[A-Za-z0-9]{22}$/)
  const times = [asked, rows[0]!.recorded_at, new Date()]
  expect(times).toEqual(times.toSorted((a, b) => a.getTime() - b.getTime()))
})

test.each([
  ['GET', 'Patient/amina', 'R | read | 0 |  | Patient | amina | amina | 1'],
  ['HEAD', 'Patient/amina', 'R | read | 0 |  | Patient | amina | amina | 1'],
  ['GET', 'Observation/pressure/_history/1', 'R | vread | 0 |  | Observation | pressure | amina | 1'],
  ['GET', 'Observation/pressure/_history', 'R | history-instance | 0 |  | Observation | pressure | amina | 1'],
  ['GET', 'Observation/_history?_count=1', 'R | history-type | 0 |  | Observation |  | amina | 1'],
  ['GET', 'Observation?patient=amina', 'E | search-type | 0 |  | Observation |  | amina | 2'],
  ['GET', 'Observation?patient=nobody', 'E | search-type | 0 |  | Observation |  | nobody | 0'],
  ['GET', 'Observation?_id=pulse', 'E | search-type | 0 |  | Observation |  | amina | 1'],
  ['GET', 'Patient/amina/Observation', 'E | search-type | 0 |  | Observation |  | amina | 2'],
  ['GET', '?_type=Patient,Observation&_id=amina', 'E | search-system | 0 |  |  |  | amina | 1'],
  ['GET', 'Patient/amina/$everything', 'E | operation | 0 |  | Patient | amina | amina | 3'],
  ['GET', 'Observation/$lastn?patient=amina', 'E | operation | 0 |  | Observation |  | amina | 1'],
  ['GET', 'Observation/absent', 'R | read | 4 | NOT_FOUND | Observation | absent |  | 0'],
  ['GET', 'Patient/absent', 'R | read | 4 | NOT_FOUND | Patient | absent | absent | 0'],
  ['GET', 'Observation?nonsense:is=wrong', 'E | search-type | 4 | MALFORMED_REQUEST | Observation |  |  | 0'],
  ['GET', 'Nothing/1', 'E | operation | 4 | NOT_FOUND |  |  |  | 0'],
])('%s %s leaves one row', async (method, path, row) => {
  const options = path.includes('nonsense') ? { headers: { prefer: 'handling=strict' } } : {}
  const { rows } = await traced(method, path, options)
  expect(rows.map(short)).toEqual([row])
})

test('a search leaves its parameters, those of a form too', async () => {
  const { rows } = await traced('POST', 'Observation/_search', {
    body: new URLSearchParams({ patient: 'amina', code: 'x y' }),
  })
  expect(rows.map(row => row.query)).toEqual(['Observation?patient=amina&code=x+y'])
})

test('each way to change something leaves a row', async () => {
  const body = { ...observation, id: undefined }
  const created = await traced('POST', 'Observation', { body })
  const id = created.answer.body.id
  expect(created.rows.map(short)).toEqual([`C | create | 0 |  | Observation | ${id} | amina | 1`])
  const changed = { ...observation, id, status: 'amended' }
  const updated = await traced('PUT', `Observation/${id}`, { body: changed })
  expect(updated.rows.map(short)).toEqual([`U | update | 0 |  | Observation | ${id} | amina | 1`])
  expect(updated.rows[0]!.version).toBe(2)
  const patch = [{ op: 'replace', path: '/status', value: 'final' }]
  const headers = { 'content-type': 'application/json-patch+json' }
  const patched = await traced('PATCH', `Observation/${id}`, { body: JSON.stringify(patch), headers })
  expect(patched.rows.map(short)).toEqual([`U | patch | 0 |  | Observation | ${id} | amina | 1`])
  const deleted = await traced('DELETE', `Observation/${id}`)
  expect(deleted.rows.map(short)).toEqual([`D | delete | 0 |  | Observation | ${id} |  | 1`])
  const wrong = await traced('POST', 'Observation', { body: { resourceType: 'Observation' } })
  expect(wrong.rows.map(short)).toEqual(['C | create | 4 | MALFORMED_REQUEST | Observation |  |  | 0'])
})

test('conditional changes leave the condition', async () => {
  const { rows } = await traced('DELETE', 'Observation?identifier=nowhere')
  expect(rows.map(row => [short(row), row.query])).toEqual([
    ['D | delete | 0 |  | Observation |  |  | 0', 'Observation?identifier=nowhere'],
  ])
})

test('each entry of a batch leaves a row, those that fail too', async () => {
  const entry = ['Patient/amina', 'Patient/absent', 'Observation?patient=amina'].map(url => ({
    request: { method: 'GET', url },
  }))
  const { rows } = await traced('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
  expect(rows.map(short)).toEqual([
    'R | read | 0 |  | Patient | amina | amina | 1',
    'R | read | 4 | NOT_FOUND | Patient | absent | absent | 0',
    'E | search-type | 0 |  | Observation |  | amina | 2',
  ])
})

test('each entry of a transaction leaves a row; one that is rolled back leaves that it was tried', async () => {
  const entry = [
    { resource: { ...patient, id: 'other' }, request: { method: 'PUT', url: 'Patient/other' } },
    { request: { method: 'GET', url: 'Patient/amina' } },
  ]
  const { rows } = await traced('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(rows.map(short).sort()).toEqual([
    'R | read | 0 |  | Patient | amina | amina | 1',
    'U | update | 0 |  | Patient | other | other | 1',
  ])
  const bad = [...entry, { resource: { resourceType: 'Observation' }, request: { method: 'POST', url: 'Observation' } }]
  const failed = await traced('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry: bad } })
  expect(failed.rows.map(short)).toEqual(['E | transaction | 4 | MALFORMED_REQUEST |  |  |  | 0'])
})

test('a reply that is given again for its Idempotency-Key leaves of whom it told', async () => {
  const headers = { 'idempotency-key': 'audit' }
  const body = { ...observation, id: undefined }
  const first = await traced('POST', 'Observation', { body, headers })
  expect(first.rows.map(short)).toEqual([`C | create | 0 |  | Observation | ${first.answer.body.id} | amina | 1`])
  const again = await traced('POST', 'Observation', { body, headers })
  expect(again.answer.text).toBe(first.answer.text)
  expect(again.rows.map(short)).toEqual(['E | operation | 0 |  |  |  | amina | 1'])
  expect(again.rows[0]!.query).toContain('POST /api/fhir/R4/Observation')
})

test('what is undone with the reply to an Idempotency-Key is told as failed', async () => {
  const held = await barrier({ ...inject('server'), database: service.database }, 'idempotency')
  const asked = traced('POST', 'Observation', {
    body: { ...observation, id: undefined },
    headers: { 'idempotency-key': 'audit, undone' },
  })
  await until('the reply is to be kept', async () => (await held.waiting()) === 1)
  await held.endWaiting()
  const { answer, rows } = await asked
  await held.lift()
  expect(answer.status).toBe(503)
  expect(rows).toHaveLength(1)
  expect(short(rows[0]!)).toMatch(/^C \| create \| 8 \| UNAVAILABLE \| Observation \| [\w-]+ \| amina \| 0$/)
})

test('who has no token, a wrong one, or too narrow scopes is on record', async () => {
  const unknown = await traced('GET', 'Patient/amina', { token: 'nonsense' })
  expect(unknown.answer.status).toBe(401)
  expect(unknown.rows.map(short)).toEqual(['R | read | 4 | TOKEN_INVALID | Patient | amina | amina | 0'])
  expect(unknown.rows[0]).toMatchObject({ client_id: '', address: '127.0.0.1' })
  const { id: clientId, organizationId } = demoClient
  const token = await service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: true }, [
    'labs:read',
  ])
  const narrow = await traced('GET', 'Patient/amina', { token })
  expect(narrow.answer.status).toBe(403)
  expect(narrow.rows.map(short)).toEqual(['R | read | 4 | INSUFFICIENT_SCOPE | Patient | amina | amina | 0'])
  expect(narrow.rows[0]!.client_id).toBe(clientId)
})

test('orders of exports, and asking for what became of them, are on record', async () => {
  const ordered = await traced('GET', '$export', { headers: { prefer: 'respond-async' } })
  expect(ordered.answer.status).toBe(202)
  expect(ordered.rows.map(row => [short(row), row.query])).toEqual([['E | operation | 0 |  |  |  |  | 0', '$export']])
})

test('health, metadata, discovery and tokens leave nothing', async () => {
  const count = async () => Number((await database.query('select count(*) from audit_event')).rows[0].count)
  const before = await count()
  for (const path of ['/healthz', '/readyz', 'metadata', '/.well-known/jwks.json', '/api/v1/sdk/token/introspect'])
    expect((await call('GET', path)).status).toBe(200)
  await call('POST', '/api/v1/connect/auth/token', { body: new URLSearchParams({ grant_type: 'client_credentials' }) })
  expect(await count()).toBe(before)
})

test('bytes that PostgreSQL cannot hold do not keep an access from being recorded', async () => {
  const { rows } = await traced('POST', 'Patient/_search', { body: new URLSearchParams({ name: 'a\0b' }) })
  expect(rows).toHaveLength(1)
  expect(rows[0]!.query).not.toContain('\0')
})

test('the rows of many requests at a time are all there, in one chain without gaps', async () => {
  await Promise.all(Array.from({ length: 200 }, () => call('GET', 'Patient/amina')))
  const { rows } = await database.query(`select ${auditColumns} from audit_event order by chain, sequence`)
  expect(rows.map(row => Number(row.sequence))).toEqual(rows.map((_, index) => index + 1))
})

test('when the trail cannot be written nothing is disclosed, and what was changed is told later', async () => {
  const other = await startService()
  const there = await databaseOf(other)
  const ask = fhirCaller(() => other)
  await there.query('alter table audit_row add constraint shut check (false) not valid')
  const refused = await ask('PUT', 'Patient/shut', { body: { resourceType: 'Patient', id: 'shut' } })
  expect([refused.status, refused.body.issue[0].code, refused.text.includes('"Patient"')]).toEqual([
    503,
    'transient',
    false,
  ])
  expect((await ask('GET', 'Patient/amina-bello')).status).toBe(503)
  await there.query('alter table audit_row drop constraint shut')
  expect((await ask('GET', 'Patient/shut')).status).toBe(200)
  await until('the change is told', async () => (await pendingIn(there)) === 0)
  const { rows } = await there.query(`select ${auditColumns} from audit_event order by chain, sequence`)
  expect(rows.map(short)).toEqual([
    'R | read | 0 |  | Patient | shut | shut | 1',
    'U | update | 0 |  | Patient | shut | shut | 1',
  ])
})
