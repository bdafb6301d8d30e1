// What a client hears of a change when the database is lost before it has confirmed it, and what a repeat does.
import type pg from 'pg'
import { beforeAll, expect, inject, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { until } from '../support/process.ts'
import { type Service, startBeside, startOn } from '../support/service.ts'
import { age, databaseOf, expectToldOnce, pendingIn, rowsOf } from '../support/trail.ts'
import { startWire, type Wire } from '../support/wire.ts'

let service: Service
let wire: Wire
let database: pg.Client
const call = fhirCaller(() => service)

beforeAll(async () => {
  const { host, port } = inject('server')
  wire = await startWire(host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : port)
  const own = await createTestDatabase()
  service = await startOn({ ...own, host: '127.0.0.1', port: wire.port })
  database = await databaseOf(service)
  // Each statement is prepared, and counts as short.
  for (let round = 0; round < 3; round++) await create('first')
})

const flag = (text: string) => ({
  resourceType: 'Flag',
  status: 'active',
  code: { text },
  subject: { reference: 'Patient/x' },
})

const json = { accept: 'application/json' }

const create = (text: string, headers = {}): Promise<Answer> =>
  call('POST', 'Flag', { body: flag(text), headers: { ...json, ...headers } })

async function stored(text: string): Promise<number> {
  const { rows } = await database.query('select count(*)::int as count from resource where body::text like $1', [
    `%"${text}"%`,
  ])
  return rows[0].count
}

const issueOf = (answer: Answer) => ({
  status: answer.status,
  retry: answer.headers.get('retry-after'),
  code: answer.body.error_code,
})

const unconfirmed = { status: 503, retry: '2', code: 'UNCONFIRMED' }

test('a change whose answer is lost is unconfirmed, and stored', async () => {
  const lost = wire.loseAnswerTo('one that is lost')
  expect(issueOf(await create('one that is lost'))).toEqual(unconfirmed)
  await lost
  await until('it is stored', async () => (await stored('one that is lost')) === 1)
})

test('its repeat with an Idempotency-Key gets the reply of the first request, and stores nothing again', async () => {
  const headers = { 'idempotency-key': 'the key' }
  const lost = wire.loseAnswerTo('idempotency-keep')
  expect(issueOf(await create('with a key', headers))).toEqual(unconfirmed)
  await lost
  await until('it is stored', async () => (await stored('with a key')) === 1)
  const again = await create('with a key', headers)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
  expect(await stored('with a key')).toBe(1)
})

test('a change whose row of the audit trail is lost is confirmed: the row is there, or sent again', async () => {
  const lost = wire.loseAnswerTo('audit-group')
  expect((await create('with its row')).status).toBe(201)
  await lost
})

test('so is a read, which is recorded once', async () => {
  const lost = wire.loseAnswerTo('audit-group')
  const { status, headers } = await call('GET', 'Flag?_count=1')
  await lost
  expect(status).toBe(200)
  expect(await rowsOf(database, headers.get('x-request-id')!)).toHaveLength(1)
})

test('a change that is stored, and whose row is lost again and again, is unconfirmed', async () => {
  const lost = wire.loseAnswerTo('audit-group', 4)
  expect(issueOf(await create('without a row'))).toEqual(unconfirmed)
  await lost
  expect(await stored('without a row')).toBe(1)
})

test('a read whose row is lost again and again shows nothing, and may be tried again', async () => {
  const lost = wire.loseAnswerTo('audit-group', 4)
  const answer = await call('GET', 'Flag?_count=1', { headers: json })
  await lost
  expect(issueOf(answer)).toEqual({ ...unconfirmed, code: 'UNAVAILABLE' })
  expect((await call('GET', 'Flag?_count=1')).status).toBe(200)
})

test('the audit trail tells each of these changes once', async () => {
  await age(database)
  await startBeside(service)
  await until('nothing is pending', async () => (await pendingIn(database)) === 0)
  expect(await expectToldOnce(database, 'Flag')).toBe(7)
})
