// Where deliveries go and what they look like on the wire: what a receiver gets, and what nobody gets.
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import type { Outgoing } from '../../src/outbound/send.ts'
import { newWebhookSecret, verifySignature } from '../../src/outbound/signature.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { sealFor } from '../../src/webhooks/endpoints.ts'
import type { Look, Task } from '../../src/webhooks/queue.ts'
import { createTargets, type Target } from '../../src/webhooks/targets.ts'
import { openQueue, type Queue } from '../support/queue.ts'

const key = Buffer.alloc(32, 5)
let queue: Queue
let client = ''
beforeAll(async () => {
  queue = await openQueue()
  client = await queue.client({ organization_id: 'hospital' })
})
afterEach(() => void vi.useRealTimers())

const targets = (database: Database = queue.database, encryptionKey = key) =>
  createTargets({ database, encryptionKey, userAgent: 'service/1' })

const task = (endpoint: number, more: Partial<Task> = {}): Task =>
  ({
    ...{ endpoint, revision: 1, event: 'evt_1', knowsPatient: true, isReplay: false, isOfReaders: true },
    ...{ body, source: { type: typeNumber('Flag'), id: 'f1', version: 1 }, ...more },
  }) as Task
const body = '{"id":"evt_1","data":{"health_id":"CM-1","flag":"x"},"meta":{"test":"true"}}'
const look = (more: Partial<Look> = {}): Look => ({
  ...{ isDue: true, knowsPatient: true, scopes: ['system/Flag.rs'], resource: null, ...more },
})

let number = 0
/** The target of a new endpoint with these secrets, as deliveries find it. */
async function target(secrets: unknown, row: Record<string, unknown> = {}, encryptionKey = key): Promise<Target> {
  const id = `whs_${++number}`
  const endpoint = await queue.endpoint({ id, client_id: client, secrets: sealFor(key, id, secrets), ...row })
  return (await targets(queue.database, encryptionKey).of([task(endpoint)])).get(endpoint)!
}
/** The target of a FHIR Subscription. */
const fhir = (headers: object, row: Record<string, unknown> = {}): Promise<Target> =>
  target(headers, { watches: typeNumber('Flag'), ...row })

const asOutgoing = (sent: ReturnType<Target['outgoing']>): Outgoing => {
  if ('reason' in sent) throw new Error(sent.reason)
  if ('agent' in sent) throw new Error(sent.agent)
  return sent
}

test('an event is posted to the URL with its kept bytes, signed by each secret that has not ended', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000_000 })
  const [newest, older, ended] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
  const now = 1_000_000_000_000
  const one = await target([{ secret: newest }, { secret: older, until: now + 1 }, { secret: ended, until: now }])
  expect(one).toMatchObject({ revision: 1, id: `whs_${number}`, clientId: client, organizationId: 'hospital' })
  const sent = asOutgoing(one.outgoing(task(one.key), undefined))
  expect(sent).toMatchObject({ method: 'POST', url: 'https://clinic.example.org/hooks', body })
  expect(sent.headers).toMatchObject({
    ...{ 'user-agent': 'service/1', 'content-type': 'application/json; charset=utf-8', 'webhook-id': 'evt_1' },
  })
  expect(sent.headers).not.toHaveProperty('x-service-replay')
  const header = sent.headers['X-Service-Signature']!
  expect(header).toMatch(/^t=1000000000,/)
  for (const secret of [newest, older]) verifySignature({ header, body, secret, now })
  expect(() => verifySignature({ header, body, secret: ended, now })).toThrow()
  const again = asOutgoing(one.outgoing(task(one.key, { isReplay: true }), undefined))
  expect(again.headers).toMatchObject({ 'x-service-replay': 'true', 'webhook-id': 'evt_1' })
})

test('whoever may not know the patient is not told the Health ID, by what is known last', async () => {
  const one = await target([])
  const hidden = body.replace('"CM-1"', 'null')
  const sent = (knows: boolean, last?: Look) =>
    asOutgoing(one.outgoing(task(one.key, { knowsPatient: knows }), last)).body
  expect([sent(true), sent(false)]).toEqual([body, hidden])
  expect(sent(true, look({ knowsPatient: false }))).toBe(hidden)
  expect(sent(false, look())).toBe(body)
})

test('the whole resource is asked for and sent along where that is permitted, and the scopes open it', async () => {
  const [full, thin] = [await target([], { is_full: true }), await target([])]
  const wants = (of: Target, isOfReaders: boolean) => of.wants(task(of.key, { isOfReaders }))
  expect([wants(full, true), wants(full, false), wants(thin, true), wants(thin, false)]).toEqual([
    ...['version', undefined, undefined, undefined],
  ])
  const sent = (last: Look) => JSON.parse(asOutgoing(full.outgoing(task(full.key), last)).body).data
  const resource = '{"resourceType":"Flag"}'
  expect(sent(look({ resource }))).toEqual({ health_id: 'CM-1', flag: 'x', resource: { resourceType: 'Flag' } })
  for (const last of [
    look(),
    look({ resource, scopes: ['system/Basic.rs'] }),
    look({ resource, scopes: ['system/Flag.cuds'] }),
  ])
    expect(sent(last)).toEqual({ health_id: 'CM-1', flag: 'x' })
})

const closed = { reason: 'the scopes of the client no longer permit access to the resource', isFinal: true }

test('a FHIR Subscription without a payload gets the word alone, with its headers', async () => {
  const one = await fhir({ authorization: 'Bearer x' })
  expect(one.wants(task(one.key))).toBe('nothing')
  expect(one.outgoing(task(one.key), look())).toEqual({
    ...{ method: 'POST', url: 'https://clinic.example.org/hooks', body: '' },
    headers: { 'user-agent': 'service/1', authorization: 'Bearer x' },
  })
  expect(one.outgoing(task(one.key), undefined)).toEqual(closed)
  expect(one.outgoing(task(one.key), look({ scopes: ['system/Basic.rs'] }))).toEqual(closed)
})

test.each([
  ['https://clinic.example.org/hooks', 'https://clinic.example.org/hooks/Flag/f1'],
  ['https://clinic.example.org/fhir/', 'https://clinic.example.org/fhir/Flag/f1'],
])('with a payload the resource as it is now is put at its place below %s', async (url, place) => {
  const one = await fhir({ 'x-own': '1' }, { media_type: 'application/fhir+json', url })
  expect(one.wants(task(one.key))).toBe('current')
  expect(one.outgoing(task(one.key), look({ resource: '{"id":"f1"}' }))).toEqual({
    ...{ method: 'PUT', url: place, body: '{"id":"f1"}' },
    headers: { 'user-agent': 'service/1', 'x-own': '1', 'content-type': 'application/fhir+json; charset=utf-8' },
  })
  expect(one.outgoing(task(one.key), look())).toEqual({
    ...{ reason: 'the resource no longer exists', isFinal: true },
  })
})

test('a resource whose id would lead to another place is not sent', async () => {
  const one = await fhir({}, { media_type: 'application/json' })
  const sent = (id: string) =>
    one.outgoing(task(one.key, { source: { type: typeNumber('Flag'), id, version: 1 } }), look({ resource: '{}' }))
  for (const id of ['.', '..'])
    expect(sent(id)).toEqual({ reason: 'the id of the resource cannot be used in a URL', isFinal: true })
  for (const id of ['.a', 'a.', 'a..', '...'])
    expect(asOutgoing(sent(id)).url).toBe(`https://clinic.example.org/hooks/Flag/${id}`)
})

test('secrets that were sealed with another key may be readable again later', async () => {
  const reason = 'its secrets cannot be decrypted with this ENCRYPTION_KEY'
  const one = await target([], {}, Buffer.alloc(32, 6))
  expect(one).toMatchObject({ clientId: client })
  expect([one.wants(task(one.key)), one.outgoing(task(one.key), undefined)]).toEqual([
    undefined,
    { reason, isFinal: false },
  ])
})

test('an endpoint that is gone, or has changed since its task was taken, is no target', async () => {
  const [one, other] = [await queue.endpoint({ revision: 3 }), await queue.endpoint()]
  const of = targets()
  expect([...(await of.of([task(one, { revision: 3 }), task(other), task(other + 100)])).keys()]).toEqual([one, other])
  expect([...(await of.of([task(one, { revision: 2 }), task(other)])).keys()]).toEqual([other])
  await queue.query('update webhook_endpoint set revision = 4 where key = $1', [one])
  expect((await of.of([task(one, { revision: 4 })])).get(one)).toMatchObject({ revision: 4 })
  expect(await of.of([])).toEqual(new Map())
})

test('ten thousand targets are remembered, and none is missing while others are forgotten', async () => {
  let asked = 0
  const query = async ({ values: [keys] }: { values: readonly unknown[] }): Promise<object[]> => {
    asked++
    const count = (keys as Buffer).length < 20 ? 0 : (keys as Buffer).readInt32BE(12)
    return Array.from({ length: count }, (_, at) => {
      const found = Number((keys as Buffer).readBigInt64BE(24 + 12 * at))
      return { key: found, revision: 1, id: `whs_${found}`, secrets: Buffer.alloc(0), is_fhir: false }
    })
  }
  const of = targets({ query } as unknown as Database)
  const all = Array.from({ length: 10_001 }, (_, at) => task(at))
  await of.of(all.slice(0, 10_000))
  expect([(await of.of([task(5), task(5)])).size, asked]).toEqual([1, 1])
  expect([(await of.of([task(10_000), task(10_000)])).size, asked]).toEqual([1, 2])
  expect([(await of.of([task(5), task(5)])).size, asked]).toEqual([1, 3])
  expect([(await of.of([task(5)])).size, asked]).toEqual([1, 3])
})
