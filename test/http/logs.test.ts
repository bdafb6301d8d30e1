// What operators read: every line is JSON, requests can be found by their id, and nothing tells who is ill or how to get in.
import { beforeAll, expect, test } from 'vitest'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { createLog } from '../../src/lib/log.ts'
import { isOnCluster } from '../support/citus.ts'
import { fhirCaller } from '../support/fhir.ts'
import { signIn } from '../support/identity.ts'
import { until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

interface Line {
  readonly level: string
  readonly time: string
  readonly requestId?: string
  readonly route?: string
  readonly type?: string
  readonly status?: number
  readonly msg?: string
  readonly delivery?: string
  readonly err?: { readonly code?: string; readonly message: string; readonly stack: string }
}

const texts: string[] = []
const lines = (): Line[] => texts.map(text => JSON.parse(text) as Line)
const said = (requestId: string): Line[] => lines().filter(line => line.requestId === requestId)

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService({}, createLog('debug', { write: text => void texts.push(text) }))
})

/** What no line may hold. */
const unsaid = ['Ngono-Essomba', 'Clarisse', '1987-03-09', 'clarisse-87', demoClient.secret]

const clarisse = {
  resourceType: 'Patient',
  id: 'clarisse-87',
  name: [{ family: 'Ngono-Essomba', given: ['Clarisse'] }],
  birthDate: '1987-03-09',
}

const json = { 'content-type': 'application/json' }
const named = (requestId: string) => ({ 'x-request-id': requestId })

test('a request is one line with its id, route, status and time, whatever it is about', async () => {
  await call('PUT', 'Patient/clarisse-87', { body: clarisse, headers: named('log-create') })
  await call('GET', 'Patient?name=Ngono-Essomba&birthdate=1987-03-09', { headers: named('log-search') })
  expect(said('log-create')).toEqual([
    expect.objectContaining({
      level: 'info',
      method: 'PUT',
      route: '/api/fhir/R4/{type}/{id}',
      type: 'Patient',
      status: 201,
    }),
  ])
  expect(said('log-search')).toEqual([
    expect.objectContaining({ route: '/api/fhir/R4/{type}', type: 'Patient', status: 200, ms: expect.any(Number) }),
  ])
})

test('a body that is wrong, an address that does not exist and a token that is none are not quoted', async () => {
  const wrong = { ...clarisse, gendr: 'Ngono-Essomba', birthDate: '1987-03-09T' }
  expect((await call('PUT', 'Patient/clarisse-87', { body: wrong, headers: named('log-invalid') })).status).toBe(400)
  const broken = {
    body: '{"family":"Ngono-Essomba"',
    headers: { ...named('log-broken'), ...json },
  }
  expect((await call('POST', 'Patient', broken)).status).toBe(400)
  expect((await call('GET', 'Ngono-Essomba/clarisse-87', { headers: named('log-no-type') })).status).toBe(404)
  expect((await call('GET', '/patients/Ngono-Essomba', { headers: named('log-nowhere') })).status).toBe(404)
  expect((await call('GET', 'Patient', { token: 'Ngono-Essomba', headers: named('log-token') })).status).toBe(401)
  for (const id of ['log-invalid', 'log-broken', 'log-no-type', 'log-nowhere', 'log-token'])
    expect(said(id)).toHaveLength(1)
  expect(said('log-no-type')[0]!.type).toBeUndefined()
})

test('neither is a secret that a client or a subscriber proves itself with', async () => {
  expect((await signIn(service, demoClient.id, demoClient.secret)).status).toBe(200)
  expect((await signIn(service, demoClient.id, 'Ngono-Essomba')).status).toBe(401)
  const receiver = await startReceiver()
  receiver.answer((response, { body }) => response.writeHead(500).end(`no: ${body}`))
  const wish = { callback_url: `${receiver.url}?key=clarisse-87`, subscribed_events: ['patient.updated'] }
  const { status, body } = await call('POST', '/api/v1/connect/webhooks/subscriptions', { body: wish, headers: json })
  expect(status).toBe(201)
  unsaid.push(body.webhook_secret, body.webhook_secret.slice('whsec_'.length))
  await call('PUT', 'Patient/clarisse-87', { body: { ...clarisse, active: true }, headers: named('log-webhook') })
  const failed = () => said('log-webhook').filter(line => line.delivery !== undefined)
  await until('the failed delivery is logged', () => failed().length > 0)
  expect(failed()[0]).toMatchObject({
    level: 'info',
    msg: 'webhooks: failed',
    status: 500,
    error: 'responded with 500',
  })
})

test('an error of the database is told with its code and its place, and without the rows it quotes', async () => {
  const { database } = service.application
  await database.run({ text: 'alter table resource add constraint broken check (false) not valid', values: [] })
  const refused = await call('POST', 'Patient', { body: clarisse, headers: named('log-error') })
  await database.run({ text: 'alter table resource drop constraint broken', values: [] })
  expect(refused.status).toBe(500)
  const [error, request] = said('log-error')
  // A cluster passes on what a node said under a code of its own.
  const code = isOnCluster() ? 'XX000' : '23514'
  expect(error).toMatchObject({ level: 'error', err: { code, message: expect.stringContaining('"broken') } })
  expect(error!.err!.stack).toContain('    at ')
  expect(request).toMatchObject({ level: 'info', status: 500 })
})

test('an error that quotes a value is told without it', async () => {
  const log = createLog('info', { write: text => void texts.push(text) })
  const { database } = service.application
  const query = { text: 'select $1::text::integer', values: ['Ngono-Essomba'] }
  const refused: unknown = await database.query(query).catch(error => error)
  expect((refused as Error).message).toContain('Ngono-Essomba')
  log.error({ err: new Error('outer', { cause: refused }) }, 'quoting')
  const quoting = lines().find(line => line.msg === 'quoting')
  expect(quoting).toMatchObject({
    err: { cause: { code: '22P02', message: 'invalid input syntax for type integer: "…"' } },
  })
})

test('every line is a JSON object with its time and level, and none holds a name, a birth date, an id or a secret', () => {
  expect(lines().length).toBeGreaterThan(11)
  for (const line of lines()) {
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect(['debug', 'info', 'warn', 'error']).toContain(line.level)
  }
  const all = texts.join('').toLowerCase()
  expect([...unsaid, service.token].filter(text => all.includes(text.toLowerCase()))).toEqual([])
})
