// Idempotency-Key: what is sent twice is done once.
import pg from 'pg'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createIdempotency } from '../../src/http/idempotency.ts'
import { createLimits, sameQuotas } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import { createApp } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import { onCleanup } from '../support/cleanup.ts'
import { barrier } from '../support/concurrency.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { freePort, until } from '../support/process.ts'
import { type Service, startBeside, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
beforeAll(async () => {
  service = await startService()
})

let used = 0
const newKey = () => `key ${++used}`
const patient = (family: string) => ({ resourceType: 'Patient', name: [{ family }] })

function post(path: string, key: string, body: unknown, more: { token?: string; headers?: object } = {}) {
  return call('POST', path, { body, token: more.token, headers: { 'idempotency-key': key, ...more.headers } })
}

async function stored(family: string): Promise<number> {
  return (await call('GET', `Patient?family:exact=${family}&_summary=count`)).body.total
}

const replayed = (answer: Answer) => answer.headers.get('idempotent-replayed')

function expectSame(again: Answer, first: Answer): void {
  expect(replayed(first)).toBe(null)
  expect(replayed(again)).toBe('true')
  expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text })
  for (const name of ['location', 'etag', 'last-modified', 'content-type', 'content-location'])
    expect(again.headers.get(name)).toBe(first.headers.get(name))
}

const tokenOf = (clientId: string, scopes: string[]) =>
  service.application.identity.tokens.mint({ clientId, organizationId: 'hospital-a', consentExempt: true }, scopes)

describe('a repeat gets the reply of the first request', () => {
  test('of a creation, with its headers, and nothing is created again', async () => {
    const key = newKey()
    const first = await post('Patient', key, patient('Once'))
    expect(first.status).toBe(201)
    expectSame(await post('Patient', key, patient('Once')), first)
    expect(await stored('Once')).toBe(1)
  })

  test('of a creation that answers without a body', async () => {
    const key = newKey()
    const headers = { prefer: 'return=minimal' }
    const first = await post('Patient', key, patient('Minimal'), { headers })
    expect({ status: first.status, text: first.text }).toEqual({ status: 201, text: '' })
    expectSame(await post('Patient', key, patient('Minimal'), { headers }), first)
  })

  test('of a transaction and of a batch, in which what fails is undone alone', async () => {
    const entry = (resource: object) => ({ resource, request: { method: 'POST', url: 'Patient' } })
    const bundle = (type: string, ...entries: object[]) => ({ resourceType: 'Bundle', type, entry: entries })
    const key = newKey()
    const transaction = bundle('transaction', entry(patient('Whole')), entry(patient('Whole')))
    const first = await post('', key, transaction)
    expect(first.status).toBe(200)
    expectSame(await post('', key, transaction), first)
    expect(await stored('Whole')).toBe(2)

    const other = newKey()
    const wrong = { resourceType: 'Patient', id: 'x', gender: 'unknowable' }
    const batch = bundle('batch', entry(patient('Parts')), entry(wrong), entry(patient('Parts')), {
      request: { method: 'GET', url: 'Patient?family:exact=Parts&_summary=count' },
    })
    const parts = await post('', other, batch)
    const statuses = parts.body.entry.map((each: { response: { status: string } }) => each.response.status.slice(0, 3))
    expect(statuses).toEqual(['201', '400', '201', '200'])
    expect(parts.body.entry[3].resource.total).toBe(2)
    expectSame(await post('', other, batch), parts)
    expect(await stored('Parts')).toBe(2)
  })

  test('of operations, and of an export, which is begun once', async () => {
    const key = newKey()
    const first = await post('Patient/$validate', key, patient('Valid'))
    expect(first.status).toBe(200)
    expectSame(await post('Patient/$validate', key, patient('Valid')), first)
    const order = { resourceType: 'Parameters', parameter: [{ name: '_type', valueString: 'Basic' }] }
    const other = newKey()
    const begun = await post('$export', other, order)
    expect(begun.status).toBe(202)
    expectSame(await post('$export', other, order), begun)
  })

  test('of a search parameter, which is known when the reply comes', async () => {
    const parameter = {
      resourceType: 'SearchParameter',
      url: 'http://example.org/nickname',
      name: 'Nickname',
      status: 'active',
      description: 'Nickname',
      code: 'nickname',
      base: ['Patient'],
      type: 'string',
      expression: "Patient.name.where(use = 'nickname').given",
    }
    const key = newKey()
    const first = await post('SearchParameter', key, parameter)
    expect(first.status, first.text).toBe(201)
    expect((await call('GET', 'Patient?nickname=x', { headers: { prefer: 'handling=strict' } })).status).toBe(200)
    expectSame(await post('SearchParameter', key, parameter), first)
    const define = { request: { method: 'DELETE', url: `SearchParameter/${first.body.id}` } }
    const read = { request: { method: 'GET', url: 'metadata' } }
    const refused = await post('', newKey(), { resourceType: 'Bundle', type: 'batch', entry: [define, read] })
    expect(refused.status).toBe(400)
  })

  test('only to a token with the scopes of the first', async () => {
    const key = newKey()
    const wide = await tokenOf('client-scopes', ['system/Patient.cruds', 'system/Observation.rs'])
    const narrow = await tokenOf('client-scopes', ['system/Observation.rs'])
    expect((await post('Patient', key, patient('Scoped'), { token: wide })).status).toBe(201)
    const again = await post('Patient', key, patient('Scoped'), { token: narrow })
    expect(again.status).toBe(403)
    expect(again.text).toContain('system/Patient.cruds')
  })
})

describe('a key stands for one request', () => {
  test('another body, path or query with it is refused', async () => {
    const key = newKey()
    await post('Patient', key, patient('Reused'))
    const plain = { headers: { accept: 'application/json' } }
    for (const [path, body] of [
      ['Patient', patient('Other')],
      ['Basic', patient('Reused')],
      ['Patient?x=y', patient('Reused')],
    ] as const) {
      const answer = await post(path, key, body, plain)
      expect(answer.status).toBe(409)
      expect(answer.body).toMatchObject({ status: 'error', error_code: 'IDEMPOTENCY_KEY_REUSED' })
    }
    expect(await stored('Other')).toBe(0)
  })

  test('of one client: the same key of another is another', async () => {
    const key = newKey()
    const [one, two] = await Promise.all(['client-1', 'client-2'].map(id => tokenOf(id, ['system/*.cruds'])))
    const first = await post('Patient', key, patient('Clients'), { token: one })
    const second = await post('Patient', key, patient('Clients'), { token: two })
    expect([first.status, second.status, replayed(second)]).toEqual([201, 201, null])
    expect(await stored('Clients')).toBe(2)
  })

  test('that has to be 1 to 255 printable characters', async () => {
    expect((await post('Patient', 'a'.repeat(255), patient('Long'))).status).toBe(201)
    for (const key of ['', 'a'.repeat(256), 'clé', 'a\tb']) {
      expect((await post('Patient', key, patient('Bad'))).status).toBe(400)
    }
    expect(await stored('Bad')).toBe(0)
  })

  test('and means nothing to what may be done twice: searches, tokens, other methods', async () => {
    const key = newKey()
    const form = () => new URLSearchParams({ 'family:exact': 'Fresh' })
    const first = await post('Patient/_search', key, form())
    await post('Patient', newKey(), patient('Fresh'))
    const again = await post('Patient/_search', key, form())
    expect([first.body.entry ?? [], again.body.entry.length, replayed(again)]).toEqual([[], 1, null])
    const put = { ...patient('Put'), id: 'put-1' }
    const headers = { 'idempotency-key': key }
    expect((await call('PUT', 'Patient/put-1', { body: put, headers })).status).toBe(201)
    expect(replayed(await call('PUT', 'Patient/put-1', { body: put, headers }))).toBe(null)
  })
})

test('what failed is undone and may be sent again, corrected, with the same key', async () => {
  const key = newKey()
  expect((await post('Patient', key, { ...patient('Mended'), gender: 'unknowable' })).status).toBe(400)
  expect((await post('Patient', key, patient('Mended'))).status).toBe(201)
})

describe('while the first request is in hand', () => {
  test('the same key is refused, and afterwards replayed', async () => {
    const key = newKey()
    const connection = { ...inject('server'), database: service.database }
    const held = await barrier(connection, 'idempotency')
    const first = post('Patient', key, patient('Held'))
    await until('the first waits', async () => (await held.waiting()) === 1)
    const second = await post('Patient', key, patient('Held'), { headers: { accept: 'application/json' } })
    expect(second.status).toBe(409)
    expect(second.headers.get('retry-after')).toBe('1')
    expect(second.body).toMatchObject({ error_code: 'IDEMPOTENCY_IN_PROGRESS', retry_after: 1 })
    expect(await stored('Held')).toBe(0)
    await held.lift()
    expect((await first).status).toBe(201)
    expectSame(await post('Patient', key, patient('Held')), await first)
    expect(await stored('Held')).toBe(1)
  })

  test('of many at once exactly one creates; the others are told to wait, or get its reply', async () => {
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: 30 }, () => post('Patient', key, patient('Many'))))
    const created = answers.filter(each => each.status === 201 && replayed(each) === null)
    expect(created).toHaveLength(1)
    for (const each of answers.filter(each => each !== created[0])) {
      if (each.status === 201) expectSame(each, created[0]!)
      else expect(each.status).toBe(409)
    }
    expect(await stored('Many')).toBe(1)
  })
})

test('a batch of which a part fails for reasons of ours happens not at all, so that a repeat does it', async () => {
  const hurried = await startBeside(service, { STATEMENT_TIMEOUT: '500', BASE_URL: service.url })
  await call('PUT', 'Patient/locked', { body: { ...patient('Locked'), id: 'locked' } })
  const client = new pg.Client({ ...inject('server'), database: service.database })
  await client.connect()
  await client.query(`begin; select 1 from directory where id = 'locked' for update`)
  const entry = [
    { resource: patient('Ours'), request: { method: 'POST', url: 'Patient' } },
    { resource: { ...patient('Changed'), id: 'locked' }, request: { method: 'PUT', url: 'Patient/locked' } },
  ]
  const key = newKey()
  const send = () => post(`${hurried.url}/api/fhir/R4`, key, { resourceType: 'Bundle', type: 'batch', entry })
  expect((await send()).status).toBe(503)
  expect(await stored('Ours')).toBe(0)
  await client.end()
  const again = await send()
  expect([again.status, replayed(again)]).toEqual([200, null])
  expect(await stored('Ours')).toBe(1)
})

test('requests with keys that write the same resources at once all do their work', async () => {
  const entries = (names: string[], number: number) =>
    names.map(id => ({
      resource: { ...patient(`Race ${number}`), id },
      request: { method: 'PUT', url: `Patient/${id}` },
    }))
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      post('', newKey(), { resourceType: 'Bundle', type: 'batch', entry: entries(['race-1', 'race-2'], number) }),
    ),
  )
  const statuses = answers.flatMap(({ body }) =>
    body.entry.map((each: { response: { status: string } }) => each.response.status.slice(0, 3)),
  )
  expect(statuses.filter(status => status === '201')).toHaveLength(2)
  expect(statuses.filter(status => status === '200')).toHaveLength(38)
  const history = await call('GET', 'Patient/race-2/_history?_count=100')
  expect(history.body.entry).toHaveLength(20)
})

test('batches with keys that write the same resources in opposite order end, and none of their entries loses', async () => {
  const entry = (id: string, number: number) => ({
    resource: { ...patient(`Cross ${number}`), id },
    request: { method: 'PUT', url: `Patient/${id}` },
  })
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, number) => {
      const both = [entry('cross-1', number), entry('cross-2', number)]
      return post('', newKey(), {
        resourceType: 'Bundle',
        type: 'batch',
        entry: number % 2 === 0 ? both : both.reverse(),
      })
    }),
  )
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    for (const each of body.entry) expect(each.response.status).toMatch(/^20[01]/)
  }
})

test('a key is forgotten after 24 hours, and then pruned', async () => {
  const { database, routes, identity } = service.application
  const log = createLog('silent')
  let hours = 0
  const idempotency = createIdempotency({
    database,
    unitOfWork: (_caller, work) => database.transaction(work),
    log,
    now: () => new Date(Date.now() + hours * 3_600_000),
  })
  const app = createApp({
    routes,
    authenticate: identity.authenticate,
    readPurpose: caller => caller,
    ...{ database, searchTimeout: 10_000 },
    limits: createLimits(sameQuotas(1_000_000)),
    idempotency,
    audit: { write: async () => {} },
    log,
    observer: { begun: () => {}, answered: () => {} },
    baseUrl: undefined,
    trustedProxies: networks(''),
    maxBodyBytes: 1_000_000,
  })
  const port = await freePort()
  const listening = await listen(app, port, '127.0.0.1')
  onCleanup(() => listening.close())
  const key = newKey()
  const send = () => post(`http://127.0.0.1:${port}/api/fhir/R4/Patient`, key, patient('Clock'))
  const count = async () =>
    (await database.query({ text: 'select 1 as one from idempotency where key = $1', values: [key] })).length
  expect(replayed(await send())).toBe(null)
  hours = 23.9
  await idempotency.prune()
  expect(replayed(await send())).toBe('true')
  hours = 24.1
  expect(replayed(await send())).toBe(null)
  expect(replayed(await send())).toBe('true')
  expect(await stored('Clock')).toBe(2)
  hours = 49
  await idempotency.prune()
  expect(await count()).toBe(0)
})
