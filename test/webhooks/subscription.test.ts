// FHIR Subscriptions: what can be taken, and the endpoint that is kept for one as it is written, changed and deleted.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { hash64 } from '../../src/lib/hash.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { networks } from '../../src/lib/networks.ts'
import { authorHash } from '../../src/store/author.ts'
import type { Writer } from '../../src/store/projection.ts'
import { createSearchParams } from '../../src/store/search-params/known.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { watchedTypes } from '../../src/store/watched.ts'
import { secretsOf } from '../../src/webhooks/endpoints.ts'
import { subscriptionProjection } from '../../src/webhooks/subscription.ts'
import { openQueue, type Queue, within } from '../support/queue.ts'

const key = Buffer.alloc(32, 5)
const watched: string[] = []
const { types, prepared, ready, apply } = subscriptionProjection({
  searchParams: () => createSearchParams([]),
  alsoWatch: type => void watched.push(type),
  reach: { allowed: networks(''), isLocal: false },
  messages: () => ['ServiceRequest'],
  encryptionKey: key,
})

let queue: Queue
let [ada, bob] = ['', '']
beforeAll(async () => {
  queue = await openQueue()
  ada = await queue.client({ organization_id: 'hospital' })
  bob = await queue.client({ scopes: ['system/*.rs'] })
})
beforeEach(() => queue.clear())

const channel = { type: 'rest-hook', endpoint: 'https://clinic.example.org/hooks' }
const wish = (more: JsonObject = {}): JsonObject => ({
  ...{ resourceType: 'Subscription', status: 'requested', criteria: 'Flag?identifier=x', channel, ...more },
})
const by = (author: string | undefined, asked: string[] = []): Writer => ({
  author,
  may: (type, interaction) => {
    asked.push(`${type}.${interaction}`)
    return type !== 'Condition'
  },
  party: { organizationId: 'ada' },
})

test('what a client requests is active from the moment it is stored, and any problem of before is over', () => {
  const asked: string[] = []
  expect(types).toEqual(new Set(['Subscription']))
  expect(prepared!(wish({ error: 'gone', reason: 'x' }), by(ada, asked))).toEqual(
    wish({ status: 'active', reason: 'x' }),
  )
  expect(asked).toEqual(['Flag.s'])
  const active = wish({ status: 'active', error: 'gone' })
  expect(prepared!(active, by(ada))).toBe(active)
})

test('what is not to be active, or comes from the service itself, is stored as it is', () => {
  for (const status of ['off', 'error']) {
    const off = wish({ status, criteria: 'Nothing' })
    expect(prepared!(off, by(ada))).toBe(off)
  }
  const own = wish({ criteria: 'Nothing' })
  expect(prepared!(own, by(undefined))).toBe(own)
})

test('criteria on a type that the client may not search are refused', () => {
  const message = 'The scopes do not permit the search on Condition in the criteria: system/Condition.rs does.'
  expect(() => prepared!(wish({ criteria: 'Condition' }), by(ada))).toThrow(new Failure('INSUFFICIENT_SCOPE', message))
})

test('criteria that go through a type that the client may not search are refused', () => {
  const message = 'The scopes do not permit the search on Condition in the criteria: system/Condition.rs does.'
  const criteria = 'Encounter?diagnosis:Condition.code=x'
  expect(() => prepared!(wish({ criteria }), by(ada))).toThrow(new Failure('INSUFFICIENT_SCOPE', message))
})

const long = (parameters: number, length = 0): string => {
  const criteria = `Flag?${Array.from({ length: parameters }, () => 'identifier=x').join('&')}`
  return criteria.padEnd(length, 'x')
}
const refusals: readonly (readonly [JsonObject, string, string, string])[] = [
  [{ channel: 'x' }, 'channel.type', 'not-supported', 'is undefined, but only rest-hook and message are supported'],
  [
    { channel: { ...channel, type: 'email' } },
    ...(['channel.type', 'not-supported', 'is "email", but only rest-hook and message are supported'] as const),
  ],
  [{ channel: { type: 'rest-hook' } }, 'channel.endpoint', 'required', 'is required'],
  [
    { channel: { ...channel, endpoint: 'http://clinic.example.org/' } },
    ...(['channel.endpoint', 'scheme', 'must start with https://'] as const),
  ],
  [
    { channel: { ...channel, endpoint: 'https://clinic.example.org/?a=b', payload: 'application/json' } },
    'channel.endpoint',
    'value',
    'must have no query, because the path of the resource is appended to it',
  ],
  ...['Nothing?x=1', '?x=1'].map(
    criteria =>
      [
        { criteria },
        ...(['criteria', 'value'] as const),
        'must be a search on one resource type, such as Observation?code=718-7',
      ] as const,
  ),
  ...[long(31), long(1, 2001)].map(
    criteria => [{ criteria }, 'criteria', 'too-long', 'must have at most 30 parameters and 2000 characters'] as const,
  ),
  [
    { criteria: 'Flag?colour.x=red' },
    ...(['criteria', 'value', 'is not a valid search: The parameter colour.x is not known for Flag'] as const),
  ],
  [
    { channel: { ...channel, payload: 'application/fhir+xml' } },
    ...(['channel.payload', 'not-supported'] as const),
    'must be application/fhir+json, or absent for a notification without content',
  ],
  [
    { channel: { ...channel, header: Array(21).fill('A: b') } },
    ...(['channel.header', 'too-long', 'has more than 20 lines'] as const),
  ],
  ...[
    ...['Host: x', 'content-length: 1', 'TE: x', 'Proxy-Authorization: x', 'keep-alive: x'],
    ...['A', 'A:', ': b', 'A: b\nC: d', 'A\nB: c', 'A b: c', 'é: x', 'A: é', `${'a'.repeat(101)}: x`],
    `A: ${'b'.repeat(4001)}`,
  ].map(
    header =>
      [
        { channel: { ...channel, header: ['X-Own: 1', header] } },
        ...(['channel.header[1]', 'value'] as const),
        'must be a header of your own, such as Authorization: Bearer abc',
      ] as const,
  ),
]

test.each(refusals)('what cannot be done is refused, with what is wrong: %j', (more, element, code, problem) => {
  const field = `Subscription.${element}`
  const details = [{ field, code, message: problem }]
  const failure = new Failure('VALIDATION_FAILED', `${field} ${problem}.`, { details })
  let found: unknown
  try {
    prepared!(wish(more), by(ada))
  } catch (error) {
    found = error
  }
  expect(found).toEqual(failure)
})

test('a defect is not told as a problem of the criteria', () => {
  const broken = subscriptionProjection({
    ...{
      alsoWatch: () => {},
      messages: () => [],
      reach: { allowed: networks(''), isLocal: false },
      encryptionKey: key,
    },
    searchParams: () => ({ ...createSearchParams([]), find: raise, of: raise, keys: raise }),
  })
  expect(() => broken.prepared!(wish(), by(ada))).toThrow(new TypeError('a defect'))
})

const raise = (): never => {
  throw new TypeError('a defect')
}

test.each([
  [{ criteria: long(30) }],
  [{ criteria: long(1, 2000) }],
  [{ criteria: 'Flag' }],
  [{ channel: { ...channel, payload: '' } }],
  [{ channel: { ...channel, payload: 'application/json' } }],
  [{ channel: { ...channel, payload: 'application/fhir+json' } }],
  [{ channel: { ...channel, endpoint: 'https://clinic.example.org/?a=b' } }],
  [{ channel: { ...channel, endpoint: 'https://clinic.example.org/?a=b', payload: '' } }],
  [{ channel: { ...channel, header: Array(20).fill('A: b') } }],
])('what is just within bounds is taken: %j', more => {
  expect(prepared!(wish(more), by(ada))).toMatchObject({ status: 'active' })
})

const isLocked = async (): Promise<boolean> =>
  (await queue.query<{ free: boolean }>('select pg_try_advisory_xact_lock(1, 2) as free'))[0]!.free === false

test.each([
  ['a type that nobody follows', [wish()], true],
  ['one that is not to be active', [wish({ status: 'off' }), wish({ status: 'error' })], false],
  ['one of no type', [wish({ criteria: 'Nothing?x' })], false],
  ['one that is active', [wish({ status: 'active', criteria: 'Flag' })], true],
])('whoever will follow %s takes the index before anything is written: %s', async (_what, resources, locks) => {
  await queue.query('delete from watched_type')
  await queue.database.transaction(async on => {
    await ready!(on, resources)
    expect(await isLocked()).toBe(locks)
  })
  await queue.put('watched_type', { type: typeNumber('Flag') })
  await queue.database.transaction(async on => {
    await ready!(on, resources)
    expect(await isLocked()).toBe(false)
  })
})

interface Row {
  readonly id: string
  readonly secrets: Buffer
  readonly [column: string]: unknown
}
const rows = (): Promise<Row[]> =>
  queue.query<Row>(
    `select p.*, p.author::text, p.organization::text, h.failures, h.failing_since
      from webhook_endpoint p left join webhook_health h on h.endpoint = p.key order by p.key`,
  )
const change = (id: string, resource: JsonObject | undefined, author: string | undefined = ada): Promise<void> =>
  queue.database.transaction(on => apply(on, [{ type: 'Subscription', id, resource }], by(author)))

/** The row of the Subscription `one` after the work, by which no other has changed. */
async function one(work: () => Promise<unknown>): Promise<Row | undefined> {
  const others = (all: Row[]) => all.filter(({ id }) => id !== 'Subscription/one')
  const before = others(await rows())
  await work()
  const after = await rows()
  expect(others(after)).toEqual(before)
  return after.find(({ id }) => id === 'Subscription/one')
}

const then = new Date('2026-01-02T03:04:05Z')
/** An endpoint that fares badly, and for which something waits. */
async function failing(row: Record<string, unknown>): Promise<void> {
  const endpoint = await queue.endpoint({ updated_at: then, ...row })
  await queue.put('webhook_health', { endpoint, failures: 3, failing_since: then })
  await queue.due(endpoint, 'evt_1')
}

test('a Subscription that is stored is an endpoint of its client, and every change of its type is followed', async () => {
  await failing({ id: 'whs_other', client_id: ada })
  watched.length = 0
  const header = [
    'X-Own: a:b ',
    'authorization: Bearer x',
    'X-Host: h',
    'Hostess: h',
    `${'a'.repeat(100)}: ${'b'.repeat(4000)}`,
  ]
  const full = { ...channel, payload: 'application/fhir+json', header }
  const made = await one(() => change('one', wish({ channel: full, end: '2030-01-01T00:00:00Z' })))
  expect(made).toEqual({
    ...{ key: expect.any(Number), id: 'Subscription/one', client_id: ada, author: String(authorHash(ada)) },
    ...{ organization: String(hash64('Organization/hospital')), url: 'https://clinic.example.org/hooks', events: [] },
    ...{ watches: typeNumber('Flag'), criteria: 'identifier=x', media_type: 'application/fhir+json' },
    ...{ ends_at: new Date('2030-01-01T00:00:00Z'), description: '', is_full: false, secrets: expect.any(Buffer) },
    ...{ revision: 1, is_active: true, disabled_because: null, failures: null, failing_since: null },
    ...{ created_at: within(0), updated_at: within(0) },
  })
  expect(secretsOf(key, made!.id, made!.secrets)).toEqual({
    ...{ 'x-own': 'a:b', authorization: 'Bearer x', 'x-host': 'h', hostess: 'h' },
    ['a'.repeat(100)]: 'b'.repeat(4000),
  })
  expect([await watchedTypes(queue.database), watched]).toEqual([new Set(['Flag']), ['Flag']])
  const plain = await one(() => change('one', wish({ criteria: 'Basic', status: 'active' })))
  expect(plain).toMatchObject({ watches: typeNumber('Basic'), criteria: '', media_type: null, ends_at: null })
  expect(secretsOf(key, plain!.id, plain!.secrets)).toEqual({})
})

test('a Subscription that is written anew is sent as it says now, with a clean slate', async () => {
  for (const id of ['zero', 'one', 'two'])
    await failing({ id: `Subscription/${id}`, client_id: ada, author: authorHash(ada), watches: 1, revision: 4 })
  await queue.query(`update webhook_endpoint set is_active = false, disabled_because = 'gone', criteria = 'x'`)
  const endpoint = 'https://new.example.org/'
  const changed = { channel: { type: 'rest-hook', endpoint, payload: 'application/json', header: ['a: b'] } }
  expect(await one(() => change('one', wish({ ...changed, end: '2030-01-01' })))).toMatchObject({
    ...{ url: endpoint, watches: typeNumber('Flag'), criteria: 'identifier=x', media_type: 'application/json' },
    ...{ ends_at: expect.any(Date), revision: 5, is_active: true, disabled_because: null, updated_at: within(0) },
    ...{ failures: 0, failing_since: null, author: String(authorHash(ada)) },
  })
  expect(await queue.query('select from webhook_delivery')).toHaveLength(3)
})

test('only the client that made a Subscription, or the service itself, changes what it is sent and where to', async () => {
  await change('one', wish())
  const forbidden = 'Only the client that created a Subscription can change its criteria and channel.'
  await expect(change('one', wish({ criteria: 'Basic' }), bob)).rejects.toEqual(new Failure('FORBIDDEN', forbidden))
  const asService = (id: string) =>
    queue.database.transaction(on =>
      apply(on, [{ type: 'Subscription', id, resource: wish({ criteria: 'Basic' }) }], by(undefined)),
    )
  expect(await one(() => asService('one'))).toMatchObject({ client_id: ada, watches: typeNumber('Basic') })
  await asService('of-nobody')
  expect(await rows()).toHaveLength(1)
})

test('a client whose scopes do not open the type any more follows it no longer, whoever writes', async () => {
  const narrow = await queue.client({ scopes: ['system/Flag.rs'] })
  await change('one', wish(), narrow)
  const message = 'The scopes do not permit the search on Basic in the criteria: system/Basic.rs does.'
  await expect(change('one', wish({ criteria: 'Basic' }), narrow)).rejects.toEqual(
    new Failure('INSUFFICIENT_SCOPE', message),
  )
})

test('a client has a hundred Subscriptions and no more, whatever others have, and however many endpoints of Connect', async () => {
  const many = (client: string, count: number, watches: number | null) =>
    queue.query(
      `insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets, watches)
        select $1 || coalesce($3::integer, 0) || 'of' || n, $1, 0, 0, '', '{}', '', $3 from generate_series(1, $2::integer) as n`,
      [client, count, watches],
    )
  await many(ada, 99, 1)
  await many(ada, 100, null)
  await many(bob, 100, 1)
  await change('one', wish())
  await change('one', wish({ criteria: 'Basic' }))
  await expect(change('two', wish())).rejects.toEqual(
    new Failure('CONFLICT', 'A client can have at most 100 Subscriptions: delete an unused one.'),
  )
})

test('while a client writes a Subscription, it writes no other', async () => {
  const isFree = async (client: string) =>
    (await queue.query<{ free: boolean }>('select pg_try_advisory_xact_lock(3, hashtext($1)) as free', [client]))[0]!
      .free
  await queue.database.transaction(async on => {
    await apply(on, [{ type: 'Subscription', id: 'one', resource: wish() }], by(ada))
    expect([await isFree(ada), await isFree(bob)]).toEqual([false, true])
  })
})

test('a Subscription that is switched off, or says that it has failed, is sent nothing, for the reason that is known first', async () => {
  for (const id of ['zero', 'one', 'two']) await failing({ id: `Subscription/${id}`, client_id: ada, watches: 1 })
  const paused = { is_active: false, updated_at: within(0), failures: 3 }
  expect(await one(() => change('one', wish({ status: 'off' })))).toMatchObject({
    ...{ ...paused, revision: 2, disabled_because: 'the Subscription is not active' },
  })
  await queue.query(`update webhook_endpoint set disabled_because = 'gone' where id = 'Subscription/one'`)
  expect(await one(() => change('one', wish({ status: 'error' })))).toMatchObject({
    ...{ ...paused, revision: 3, disabled_because: 'gone' },
  })
})

test('a Subscription that is deleted leaves nothing, and nothing is delivered to it any more', async () => {
  for (const id of ['zero', 'one', 'two']) await failing({ id: `Subscription/${id}`, client_id: ada, watches: 1 })
  expect(await one(() => change('one', undefined))).toBeUndefined()
  for (const table of ['webhook_health', 'webhook_delivery'])
    expect(await queue.query(`select from ${table}`)).toHaveLength(2)
})
