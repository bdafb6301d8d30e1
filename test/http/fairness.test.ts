// What a client takes of the database is its share, and ends with the request that it was for.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeAll, expect, inject, test } from 'vitest'
import { createCosts } from '../../src/db/costs.ts'
import { openDatabase } from '../../src/db/database.ts'
import { type Barrier, barrier } from '../support/concurrency.ts'
import { fhirCaller, issueOf } from '../support/fhir.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { databaseOf, rowsOf } from '../support/trail.ts'

let service: Service
let beside: pg.Client
let other: string
const call = fhirCaller(() => service)

/** A search, planned for its values, that waits as long as nobody may read the table `span`, and one that does not. */
const slow = 'Observation?code=fever&value-quantity=gt5'
const quick = 'Patient?name=lovelace'
/** Another that waits, and that a service takes for costly once it has waited long. */
const costly = 'Observation?code=fever&value-quantity=gt5&status=final'

beforeAll(async () => {
  service = await startService({ DATABASE_POOL: '2' })
  beside = await databaseOf(service)
  const { tokens } = service.application.identity
  const clinic = { clientId: 'clinic-b', organizationId: 'org-b', consentExempt: true }
  other = await tokens.mint(clinic, ['system/*.cruds'])
  const name = [{ family: 'Lovelace' }]
  expect((await call('PUT', 'Patient/ada', { body: { resourceType: 'Patient', id: 'ada', name } })).status).toBe(201)
})

let held: Barrier | undefined
afterEach(() => held?.lift())

/** Nobody reads numbers until it is lifted. */
const holdNumbers = async (): Promise<Barrier> =>
  (held = await barrier({ ...inject('server'), database: service.database }, 'span', { alsoReaders: true }))

/** Waits until so many statements wait for the barrier. @throws Error if they never do. */
async function untilWaiting({ waiting }: Barrier, count: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if ((await waiting()) === count) return
    await sleep(10)
  }
  throw new Error(`${await waiting()} statements wait, not ${count}`)
}

/** A request on a connection of its own, and a way to give it up. */
function begun(method: string, path: string, { body, requestId = '', token = service.token }: Partial<Begun> = {}) {
  const sent = request(`${service.url}/api/fhir/R4/${path}`, {
    method,
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/fhir+json',
      ...(requestId ? { 'x-request-id': requestId } : {}),
    },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const answered = once(sent, 'response').then(([reply]: IncomingMessage[]) => {
    reply!.resume()
    return reply!.statusCode
  })
  return { answered, leave: () => void sent.destroy(new Error('left')) }
}

interface Begun {
  readonly body: unknown
  readonly requestId: string
  readonly token: string
}

const observation = {
  resourceType: 'Observation',
  id: 'left',
  status: 'final',
  code: { text: 'temperature' },
  valueQuantity: { value: 37 },
}

test('the statement of a search ends when its client goes away, and the attempt is on record', async () => {
  const gate = await holdNumbers()
  const search = begun('GET', slow, { requestId: 'search-that-left' })
  await untilWaiting(gate, 1)
  search.leave()
  await expect(search.answered).rejects.toThrow('left')
  await untilWaiting(gate, 0)
  await gate.lift()
  let rows = await rowsOf(beside, 'search-that-left')
  for (let tries = 0; rows.length === 0 && tries < 500; tries++) {
    await sleep(10)
    rows = await rowsOf(beside, 'search-that-left')
  }
  expect(rows).toMatchObject([{ action: 'E', outcome: expect.not.stringMatching(/^0$/) }])
  expect((await call('GET', slow)).status).toBe(200)
})

test.each([
  ['PUT', 'Observation/left', observation],
  [
    'POST',
    '',
    {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: observation, request: { method: 'PUT', url: 'Observation/left' } }],
    },
  ],
])('a change by %s %s whose client goes away before the commit is not made', async (method, path, body) => {
  const gate = await holdNumbers()
  const change = begun(method, path, { body })
  await untilWaiting(gate, 1)
  change.leave()
  await expect(change.answered).rejects.toThrow('left')
  await untilWaiting(gate, 0)
  await gate.lift()
  expect((await call('GET', 'Observation/left')).status).toBe(404)
})

test('clients that stay are answered while others leave: no statement of theirs is ended', async () => {
  const gate = await holdNumbers()
  const leaving = Array.from({ length: 6 }, () => begun('GET', slow))
  await untilWaiting(gate, 1)
  const staying = Array.from({ length: 20 }, (_, index) =>
    call('GET', index % 2 ? quick : 'Patient/ada', { token: other }),
  )
  for (const each of leaving) {
    each.leave()
    await expect(each.answered).rejects.toThrow('left')
  }
  expect((await Promise.all(staying)).map(({ status }) => status)).toEqual(staying.map(() => 200))
  await untilWaiting(gate, 0)
  await gate.lift()
  expect(await Promise.all([quick, slow].map(async path => (await call('GET', path)).status))).toEqual([200, 200])
})

test('slow searches of one client hold its share of the connections, and leave the others to the others', async () => {
  const gate = await holdNumbers()
  const searches = Array.from({ length: 3 }, () => begun('GET', slow))
  const changes = Array.from({ length: 3 }, (_, index) =>
    begun('PUT', `Observation/held-${index}`, { body: { ...observation, id: `held-${index}` } }),
  )
  // One for a search and one for a change: the others wait before they reach the database.
  await untilWaiting(gate, 2)
  for (const path of [quick, 'Patient/ada', 'Patient/ada/_history']) {
    const { status, text } = await call('GET', path, { token: other })
    expect(status, text).toBe(200)
  }
  const body = { resourceType: 'Patient', id: 'grace', active: true }
  expect((await call('PUT', 'Patient/grace', { token: other, body })).status).toBeLessThan(300)
  // Changes that share a transaction wait for 50 ms on a connection of the service, then each within its client's share.
  await untilWaiting(gate, 2)
  await gate.lift()
  expect(await Promise.all(searches.map(each => each.answered))).toEqual([200, 200, 200])
  expect(await Promise.all(changes.map(each => each.answered))).toEqual([201, 201, 201])
})

test('transactions of one client come fewer at a time until they are known to be short, and those of another go on', async () => {
  const roomy = await startBeside(service, { DATABASE_POOL: '4' })
  const fromRoomy = fhirCaller(() => roomy)
  const bundle = (id: string) => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [{ resource: { ...observation, id }, request: { method: 'PUT', url: `Observation/${id}` } }],
  })
  const changes = (name: string, count: number, token = service.token) =>
    Array.from({ length: count }, (_, index) => fromRoomy('POST', '', { body: bundle(`${name}-${index}`), token }))
  const gate = await holdNumbers()
  const long = changes('long', 3)
  await untilWaiting(gate, 1)
  const others = changes('other', 1, other)
  await untilWaiting(gate, 2)
  await gate.lift()
  expect((await Promise.all([...long, ...others])).map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

const large = [
  ['many bytes', [{ text: 'long '.repeat(15_000) }]],
  ['many values', Array.from({ length: 600 }, () => ({ text: 'short' }))],
] as const

/** A service with connections to spare, and its changes: with a large body if they have a note. */
async function roomyService() {
  const from = fhirCaller(await startBeside(service, { DATABASE_POOL: '16' }).then(roomy => () => roomy))
  const put = (more: object = {}, token = service.token) => {
    const id = randomUUID()
    return from('PUT', `Observation/${id}`, { body: { ...observation, id, ...more }, token })
  }
  return { from, put }
}

test.each(large)(
  'bodies with %s of one client are worked on one at a time while others are there, and small ones and those of others beside them',
  async (_, note) => {
    const { from, put } = await roomyService()
    let isOver = false
    const inCompany = async (): Promise<void> => {
      while (!isOver) await from('GET', 'Patient/ada', { token: other })
    }
    await from('GET', 'Patient/ada', { token: other })
    const company = inCompany()
    const gate = await holdNumbers()
    const first = put({ note })
    await untilWaiting(gate, 1)
    const second = put({ note })
    const beside = [put(), put()]
    await untilWaiting(gate, 3)
    const others = put({ note }, other)
    await untilWaiting(gate, 4)
    await gate.lift()
    const replies = await Promise.all([first, second, ...beside, others])
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    isOver = true
    await company
  },
)

test.each(large)('of bodies with %s two are worked on at a time if no other client is there', async (_, note) => {
  const { put } = await roomyService()
  const gate = await holdNumbers()
  const bodies = [put({ note }), put({ note })]
  await untilWaiting(gate, 2)
  const third = put({ note })
  const beside = put()
  await untilWaiting(gate, 3)
  await gate.lift()
  const replies = await Promise.all([...bodies, third, beside])
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
})

test('the service goes on by itself while clients hold all that they share: tokens, health and the audit trail', async () => {
  const gate = await holdNumbers()
  const searches = [service.token, other].map(token => begun('GET', slow, { token }))
  await untilWaiting(gate, 2)
  const credentials = { grant_type: 'client_credentials', client_id: 'demo-client' }
  const wrong = await call('POST', '/api/v1/connect/auth/token', {
    body: new URLSearchParams({ ...credentials, client_secret: 'wrong' }),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(wrong.status).toBe(401)
  expect((await call('GET', '/readyz')).status).toBe(200)
  // Read by a connection for kept plans, and answered only when the trail holds it.
  expect((await call('GET', 'Patient/ada', { headers: { 'x-request-id': 'read-meanwhile' } })).status).toBe(200)
  expect(await rowsOf(beside, 'read-meanwhile')).toHaveLength(1)
  await gate.lift()
  expect(await Promise.all(searches.map(each => each.answered))).toEqual([200, 200])
})

test('costly searches of one client come one at a time in all processes, and those of another go on beside them', async () => {
  const neighbour = await startBeside(service, { DATABASE_POOL: '4' })
  const fromNeighbour = fhirCaller(() => neighbour)
  await learn(call)
  await learn(fromNeighbour)
  expect((await fromNeighbour('GET', quick)).status).toBe(200)
  const gate = await holdNumbers()
  const first = call('GET', costly)
  await untilWaiting(gate, 1)
  const second = fromNeighbour('GET', costly)
  await untilInLine(1)
  expect(await gate.waiting()).toBe(1)
  const others = fromNeighbour('GET', costly, { token: other })
  await untilWaiting(gate, 2)
  expect((await fromNeighbour('GET', quick)).status).toBe(200)
  await gate.lift()
  expect((await Promise.all([first, second, others])).map(({ status }) => status)).toEqual([200, 200, 200])
})

test('after a large answer the next costly statement of its client waits a while, and those of others do not', async () => {
  const { database } = service.application
  const { signal } = new AbortController()
  const [one, another] = ['one', 'another'].map(who => database.as({ who, signal }))
  // A statement that nobody asked before counts as costly.
  const ask = (lane: typeof one, what: string) => lane!.query({ text: `select ${what} as asked`, values: [] })
  const asked: string[] = []
  await ask(one, `repeat('long ', 7000000)`)
  const next = ask(one, '1').then(() => asked.push('next'))
  await ask(another, '2').then(() => asked.push('of another'))
  await next
  expect(asked).toEqual(['of another', 'next'])
})

test('costly statements of a client that is alone run side by side, and in turn once another client is there', async () => {
  const database = openDatabase(
    { ...inject('server'), database: service.database },
    { poolSize: 4, statementTimeout: 60_000 },
  )
  const { signal } = new AbortController()
  const sleeping = (who: string, seconds: number) =>
    database.as({ who, signal }).query({ text: 'select pg_sleep($1::float8)', values: [seconds] })
  const ended: string[] = []
  const both = () =>
    Promise.all([
      sleeping('one', 0.4).then(() => ended.push('long')),
      sleeping('one', 0.01).then(() => ended.push('short')),
    ])
  try {
    // A statement that nobody asked before runs in its turn, and counts for more than the time it took.
    await sleeping('one', 0.03)
    await both()
    await sleeping('another', 0.01)
    await both()
    expect(ended).toEqual(['short', 'long', 'long', 'short'])
  } finally {
    await database.end()
  }
})

test('a costly search whose client goes away while it waits for its turn leaves the line', async () => {
  const neighbour = await startBeside(service)
  const fromNeighbour = fhirCaller(() => neighbour)
  await learn(call)
  await learn(fromNeighbour)
  const gate = await holdNumbers()
  const first = fromNeighbour('GET', costly)
  await untilWaiting(gate, 1)
  const second = begun('GET', costly)
  await untilInLine(1)
  second.leave()
  await expect(second.answered).rejects.toThrow('left')
  await untilInLine(0)
  await gate.lift()
  expect((await first).status).toBe(200)
  expect((await call('GET', costly)).status).toBe(200)
})

/** Has the service learn what is costly. */
async function learn(from: ReturnType<typeof fhirCaller>): Promise<void> {
  const gate = await holdNumbers()
  const search = from('GET', costly)
  await untilWaiting(gate, 1)
  await sleep(300)
  await gate.lift()
  expect((await search).status).toBe(200)
}

/** Waits until so many connections wait for the turn of their client. @throws Error if they never do. */
async function untilInLine(count: number): Promise<void> {
  const text = `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
    where l.locktype = 'advisory' and l.classid = 4 and not l.granted and d.datname = $1`
  for (let tries = 0; tries < 500; tries++) {
    const { rows } = await beside.query(text, [service.database])
    if (rows[0].count === count) return
    await sleep(10)
  }
  throw new Error(`${count} statements never waited for a turn`)
}

test.each(['a', 'ab'])(
  'an answer that is sent in pieces arrives whole, whatever characters they begin with (%s)',
  async id => {
    const text = '😀'.repeat(200_000)
    const code = { text: 'a long one' }
    const extension = ['one', 'two', 'three'].map(name => ({ url: `urn:example:${name}`, valueString: text }))
    const body = { resourceType: 'Basic', id, code, extension }
    expect((await call('PUT', `Basic/${id}`, { body })).status).toBe(201)
    const reply = await call('GET', `Basic/${id}`)
    expect(reply.body.extension.every((each: { valueString: string }) => each.valueString === text)).toBe(true)
    expect(Number(reply.headers.get('content-length'))).toBe(Buffer.byteLength(reply.text))
  },
)

test('what statements of a text took lately tells what the next one will, and more if they ran alone', () => {
  const costs = createCosts()
  expect(costs.expected('select 1')).toBeUndefined()
  costs.took('select 1', 400, false)
  expect(costs.expected('select 1')).toBe(400)
  costs.took('select 1', 0, false)
  expect(costs.expected('select 1')).toBe(300)
  costs.took('select 2', 40, true)
  expect(costs.expected('select 2')).toBe(100)
  costs.took('select 3', 60_000, false)
  expect(costs.expected('select 3')).toBe(2000)
})

test('costs of texts that never come again make room for others, and long texts are not kept', () => {
  const costs = createCosts()
  costs.took('x'.repeat(20_000), 400, false)
  expect(costs.expected('x'.repeat(20_000))).toBeUndefined()
  for (let number = 0; number <= 5000; number++) costs.took(`select ${number}`, 100, false)
  expect(costs.expected('select 0')).toBeUndefined()
  expect(costs.expected('select 1')).toBe(100)
  expect(costs.expected('select 5000')).toBe(100)
})

test('a client has so many requests wait and no more: the next one is 429 and says what is used up', async () => {
  await learn(call)
  const gate = await holdNumbers()
  const searches = Array.from({ length: 501 }, () => begun('GET', costly))
  await untilWaiting(gate, 1)
  const meter = /database_pool_connections\{pool="planned",state="waiting"\} 500/
  for (let tries = 0; tries < 500 && !meter.test(await metrics()); tries++) await sleep(10)
  const refused = await call('GET', costly)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(issueOf(refused.body)).toMatchObject({
    code: 'throttled',
    diagnostics: expect.stringContaining('turns for costly statements'),
  })
  expect((await call('GET', quick, { token: other })).status).toBe(200)
  for (const each of searches) {
    each.leave()
    each.answered.catch(() => {})
  }
  await untilWaiting(gate, 0)
  await gate.lift()
  expect((await call('GET', costly)).status).toBe(200)
})

const metrics = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text()

test('a search is ended after SEARCH_TIMEOUT with 503 and what to do, an operation goes on', async () => {
  const hasty = await startBeside(service, { SEARCH_TIMEOUT: '200' })
  const fromHasty = fhirCaller(() => hasty)
  const gate = await holdNumbers()
  const operation = fromHasty('GET', 'Observation/$lastn?value-quantity=gt5')
  await untilWaiting(gate, 1)
  const search = await fromHasty('GET', slow, { token: other })
  expect(search.status, search.text).toBe(503)
  expect(issueOf(search.body)).toMatchObject({ code: 'too-costly', diagnostics: expect.stringContaining('narrow') })
  expect(await gate.waiting()).toBe(1)
  await gate.lift()
  expect((await operation).status).toBe(200)
})

test('the same parameter said thirty times is asked once, and the self link says it once', async () => {
  const said = Array.from({ length: 30 }, () => 'patient.name:contains=lovelace').join('&')
  const { status, body } = await call('GET', `Observation?${said}`)
  expect(status).toBe(200)
  const { url } = body.link.find((each: { relation: string }) => each.relation === 'self')
  expect(url.match(/patient\.name/g)).toHaveLength(1)
})

const pieces = Array.from({ length: 11 }, (_, index) => `name:contains=a${index}`).join('&')

test.each([
  [`Patient?${pieces}`, ':contains'],
  ['List?item.subject._lastUpdated=gt2020', 'the limit is 200'],
  [`Observation?${'encounter.part-of.part-of.part-of.part-of.part-of.'}part-of.class=a`, 'at most 5 hops'],
  ['Observation?_sort=status,code,date,_id,-_lastUpdated,category', 'at most five keys'],
  ['Observation/$lastn?max=101', 'at most 100'],
])('%s is refused before it runs, with the bound', async (path, bound) => {
  const { status, body } = await call('GET', path)
  expect(status).toBe(400)
  expect(issueOf(body)).toMatchObject({ code: 'too-costly', diagnostics: expect.stringContaining(bound) })
})
