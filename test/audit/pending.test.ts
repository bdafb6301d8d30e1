// A change and what the trail tells of it are one: whatever keeps the row from being written, it is written later, and once.
import type pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { system } from '../../src/access/caller.ts'
import { sealingKey } from '../../src/audit/chain.ts'
import { type AuditRow, auditColumns } from '../../src/audit/rows.ts'
import { verifyTrail } from '../../src/audit/verify.ts'
import { cleanUp } from '../support/cleanup.ts'
import { barrier } from '../support/concurrency.ts'
import { fhirCaller } from '../support/fhir.ts'
import { until } from '../support/process.ts'
import { testKey } from '../support/server.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { age, databaseOf, expectToldOnce, pendingIn, rowsOf, toldVersions } from '../support/trail.ts'

let service: Service
let database: pg.Client
const call = fhirCaller(() => service)

beforeEach(async () => {
  service = await startService({ DATABASE_POOL: '4' })
  database = await databaseOf(service)
})

afterEach(cleanUp)

const shut = () => database.query('alter table audit_row add constraint shut check (false) not valid')
const open = () => database.query('alter table audit_row drop constraint shut')
const nothingPending = () => until('nothing is pending', async () => (await pendingIn(database)) === 0)

const patient = { resourceType: 'Patient', id: 'amina', name: [{ family: 'Bello' }] }
const flag = {
  resourceType: 'Flag',
  status: 'active',
  code: { text: 'falls' },
  subject: { reference: 'Patient/amina' },
}
const flagged = (value: string) => ({ ...flag, identifier: [{ system: 'urn:test', value }] })
const patch = { body: '[]', headers: { 'content-type': 'application/json-patch+json' } }
const bundle = (type: string, ...entry: [method: string, url: string, resource?: object][]) => ({
  body: {
    resourceType: 'Bundle',
    type,
    entry: entry.map(([method, url, resource]) => ({ resource, request: { method, url } })),
  },
})

/** Each way to change something, as requests that differ for each `name`. */
const changes = (name: string): (readonly [string, string, { body?: unknown; headers?: Record<string, string> }])[] => [
  ['POST', 'Flag', { body: flag }],
  ['PUT', `Flag/${name}`, { body: { ...flagged(name), id: name } }],
  [
    'PATCH',
    `Flag/${name}`,
    { ...patch, body: JSON.stringify([{ op: 'replace', path: '/status', value: 'inactive' }]) },
  ],
  ['PUT', `Flag?identifier=${name}`, { body: { ...flagged(name), status: 'entered-in-error' } }],
  [
    'PATCH',
    `Flag?identifier=${name}`,
    { ...patch, body: JSON.stringify([{ op: 'replace', path: '/status', value: 'active' }]) },
  ],
  ['POST', 'Flag', { body: flagged(`${name}-new`), headers: { 'if-none-exist': `identifier=${name}-new` } }],
  ['DELETE', `Flag?identifier=${name}-new`, {}],
  ['DELETE', `Flag/${name}`, {}],
  [
    'POST',
    '',
    bundle('transaction', ['POST', 'Flag', flag], ['PUT', 'Patient/amina', { ...patient, gender: 'female' }]),
  ],
  ['POST', '', bundle('batch', ['POST', 'Flag', flag], ['PUT', 'Patient/amina', patient], ['GET', 'Patient/amina'])],
  ['POST', 'Flag', { body: flag, headers: { 'idempotency-key': name, 'x-purpose-of-use': 'treatment' } }],
  [
    'POST',
    '/api/v1/connect/patients/resolve',
    {
      body: { first_name: name, last_name: 'Essomba', date_of_birth: '1971-06-18', sex: 'female' },
      headers: { 'content-type': 'application/json' },
    },
  ],
]

/** Makes them all, one after the other, under request ids that begin with the name. */
async function change(name: string): Promise<number[]> {
  const statuses: number[] = []
  for (const [index, [method, path, options]] of changes(name).entries()) {
    const headers = { ...options.headers, 'x-request-id': `${name}-request-${index}` }
    statuses.push((await call(method, path, { ...options, headers })).status)
  }
  return statuses
}

async function isWhole(): Promise<boolean> {
  return (await verifyTrail(service.application.database, sealingKey(Buffer.from(testKey, 'base64')), [])).isWhole
}

test('what was changed while the trail could not be written is told later, each change once', async () => {
  await shut()
  const names = ['adaeze', 'bisi', 'chike', 'dayo']
  const statuses = (await Promise.all(names.map(change))).flat()
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect((await toldVersions(database)).every(([, times]) => times === 0)).toBe(true)
  await open()
  expect((await call('GET', 'Patient/amina')).status).toBe(200)
  await nothingPending()
  expect(await expectToldOnce(database)).toBeGreaterThan(names.length * 12)
  expect(await isWhole()).toBe(true)
})

test('it is told as if nothing had been in the way, down to the condition and the purpose', async () => {
  const told = async (name: string) => {
    const { rows } = await database.query<AuditRow>(
      `select ${auditColumns} from audit_event where request_id like '${name}-request-%' and action in ('C', 'U', 'D')
       and resource_type <> 'Task' order by request_id, resource_type, version`,
    )
    return rows.map(({ recorded_at, chain, sequence, resource_id, ...row }) => ({
      ...row,
      request_id: row.request_id.replace(name, ''),
      query: row.query.replaceAll(name, ''),
      patients: row.patients.length,
      version: row.resource_type === 'Patient' ? 0 : row.version,
    }))
  }
  const usual = await change('usual')
  expect(usual.filter(status => status >= 300 && status !== 412)).toEqual([])
  await shut()
  await change('later')
  await open()
  await call('GET', 'Patient/amina')
  await nothingPending()
  const [before, after] = [await told('usual'), await told('later')]
  expect(after).toEqual(before)
  expect(before.map(row => row.purpose)).toContain('TREAT')
})

test('a repeat with the Idempotency-Key tells nothing of the change again', async () => {
  await shut()
  const headers = { 'idempotency-key': 'again' }
  expect((await call('POST', 'Flag', { body: flag, headers })).status).toBe(503)
  await open()
  const again = await call('POST', 'Flag', { body: flag, headers })
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
  await nothingPending()
  expect(await expectToldOnce(database)).toBe(1)
})

test('what is rolled back leaves nothing pending, and the refusal is told', async () => {
  await shut()
  const bad = bundle('transaction', ['POST', 'Flag', flag], ['POST', 'Flag', { resourceType: 'Flag' }])
  await call('POST', '', bad)
  await call('POST', '', { ...bad, headers: { 'idempotency-key': 'rolled back' } })
  const partly = bundle('batch', ['POST', 'Flag', { resourceType: 'Flag' }], ['DELETE', 'Flag/absent'])
  await call('POST', '', { ...partly, headers: { 'idempotency-key': 'partly' } })
  await call('PUT', 'Flag/x', { body: { ...flag, id: 'x' }, headers: { 'if-match': 'W/"3"' } })
  expect(await pendingIn(database)).toBe(0)
  await open()
  await call('POST', '', { ...bad, headers: { 'x-request-id': 'rolled-back' } })
  expect((await rowsOf(database, 'rolled-back')).map(row => [row.interaction, row.outcome])).toEqual([
    ['transaction', 4],
  ])
  expect(await pendingIn(database)).toBe(0)
  expect(await toldVersions(database)).toEqual([])
})

test('what is undone with the reply to an Idempotency-Key leaves nothing pending', async () => {
  const held = await barrier({ ...inject('server'), database: service.database }, 'idempotency')
  const asked = call('POST', 'Flag', { body: flag, headers: { 'idempotency-key': 'undone' } })
  await until('the reply is to be kept', async () => (await held.waiting()) === 1)
  await held.endWaiting()
  expect((await asked).status).toBe(503)
  await held.lift()
  expect(await pendingIn(database)).toBe(0)
})

test('what a process could not tell is told by the others, and not twice however many look', async () => {
  await shut()
  await change('left')
  await age(database)
  await open()
  await Promise.all([1, 2, 3].map(() => startBeside(service, { DATABASE_POOL: '4' })))
  await nothingPending()
  await call('GET', 'Patient/amina')
  expect(await expectToldOnce(database)).toBeGreaterThan(12)
  expect(await isWhole()).toBe(true)
})

test('a request that is still at work does not repeat what others have told of it meanwhile', async () => {
  await call('PUT', 'Patient/amina', { body: patient })
  const holder = await databaseOf(service)
  await holder.query('begin; select 1 from directory for update')
  const slow = call('POST', '', {
    ...bundle('batch', ['PUT', 'Flag/first', { ...flag, id: 'first' }], ['DELETE', 'Patient/amina']),
    headers: { 'x-request-id': 'slow-request' },
  })
  await until('its first change is made', async () => (await pendingIn(database)) === 1)
  await age(database)
  await startBeside(service, { DATABASE_POOL: '4' })
  await nothingPending()
  const told = (await rowsOf(database, 'slow-request')).map(row => `${row.resource_type}/${row.resource_id}`)
  expect(told).toEqual(['Flag/first'])
  await holder.query('commit')
  expect((await slow).status).toBe(200)
  const all = (await rowsOf(database, 'slow-request')).map(row => `${row.resource_type}/${row.resource_id}`)
  expect(all.sort()).toEqual(['Flag/first', 'Patient/amina'])
  expect(await expectToldOnce(database)).toBe(3)
  expect(await isWhole()).toBe(true)
})

test('nothing is told twice when everybody takes living requests for dead', async () => {
  await database.query(`alter table audit_pending alter noted_at set default '2000-01-01'`)
  let isOver = false
  const write = async (): Promise<void> => {
    while (!isOver) {
      const { body } = await call('POST', 'Flag', { body: flag })
      const batch = bundle(
        'batch',
        ['PUT', `Flag/${body.id}`, { ...body, status: 'inactive' }],
        ['DELETE', `Flag/${body.id}`],
      )
      expect((await call('POST', '', batch)).status).toBe(200)
    }
  }
  const writing = Promise.all(Array.from({ length: 8 }, write))
  for (let times = 0; times < 4; times++) await startBeside(service, { DATABASE_POOL: '4' })
  isOver = true
  await writing
  await nothingPending()
  expect(await expectToldOnce(database)).toBeGreaterThan(24)
  expect(await isWhole()).toBe(true)
})

test('the service leaves nothing of its own work', async () => {
  await service.application.storeFor(system).create('Flag', flag)
  expect([await pendingIn(database), (await toldVersions(database)).map(([, times]) => times)]).toEqual([0, [0]])
})
