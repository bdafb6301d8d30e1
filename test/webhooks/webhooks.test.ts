// The part of a process that tells subscribers what happened: when it looks, and that it ends.
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { Failure } from '../../src/lib/failure.ts'
import { createLog } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import type { Store } from '../../src/store/store.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { sealFor } from '../../src/webhooks/endpoints.ts'
import { createWebhooks, reportGivenUp, type WebhookParts, type Webhooks } from '../../src/webhooks/webhooks.ts'
import { openQueue, type Queue } from '../support/queue.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const key = Buffer.alloc(32, 5)
let queue: Queue
let receiver: Receiver
const open: Webhooks[] = []
beforeAll(async () => {
  queue = await openQueue()
})
beforeEach(async () => {
  await queue.clear()
  receiver = await startReceiver()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
  vi.useRealTimers()
})

/** The part of a process whose clock the test holds; `hear` is what others say of the outbox. */
function webhooks(more: Partial<WebhookParts> = {}) {
  const lines: Record<string, unknown>[] = []
  let hear: Parameters<WebhookParts['outbox']['heard']>[0] = () => expect.unreachable()
  const made = createWebhooks({
    ...{ database: queue.database, encryptionKey: key, environment: 'local', userAgent: 'service/1', historyDays: 30 },
    storeFor: () => expect.unreachable(),
    outbox: { heard: (listener: typeof hear) => void (hear = listener) } as WebhookParts['outbox'],
    log: createLog('info', { write: line => void lines.push(JSON.parse(line)) }),
    reach: { allowed: networks(''), isLocal: true },
    healthIds: async () => new Map(),
    disclose: async () => {},
    handOver: () => expect.unreachable(),
    counted: () => {},
    concurrency: 2,
    ...more,
  })
  open.push(made)
  return { ...made, lines, hear: (kinds: Parameters<typeof hear>[0]) => hear(kinds) }
}

let number = 0
const columns = { version: 1, happened_at: new Date(), patient: '', patients: '', data: '{}', audience: '*' }
/** Puts something into the outbox: an event, or a change of a resource if its type is empty. */
async function happened(event = 'encounter.created', more: object = {}): Promise<string> {
  const id = `evt_${String(++number).padStart(5, '0')}`
  const made = { id, event, type: typeNumber('Flag'), resource_id: `r${number}`, request_id: 'request' }
  await queue.put('event_outbox', { ...columns, ...made, organization_id: 'x', facility_id: '', ...more })
  return id
}
async function subscribed(row: Record<string, unknown> = {}): Promise<number> {
  const id = String(row['id'] ?? `whs_${++number}`)
  const secrets = sealFor(key, id, row['watches'] ? {} : [])
  return queue.endpoint({ id, url: receiver.url, events: ['encounter.created'], secrets, ...row })
}

const until = async (isSo: () => unknown): Promise<void> => {
  const late = AbortSignal.timeout(15_000)
  while (!(await isSo())) {
    late.throwIfAborted()
    await setImmediate()
  }
}
const outbox = async (): Promise<unknown[]> =>
  (await queue.query<{ id: string }>('select id from event_outbox order by key')).map(({ id }) => id)
const warned = (lines: Record<string, unknown>[], msg: string) => lines.filter(line => line['msg'] === msg)

test('what waits when a process starts is delivered, and at once whatever it hears of later', async () => {
  await subscribed()
  const first = await happened()
  const { start, hear, wake } = webhooks()
  start()
  expect((await receiver.until(1))[0]!.event.id).toBe(first)
  // More than are taken of an endpoint at a time.
  for (let count = 0; count < 7; count++) await happened()
  hear({ events: true, changes: false })
  await receiver.until(8)
  await happened()
  wake()
  await receiver.until(9)
})

test('whoever hears of events leaves changes, and the other way round, to those who follow them', async () => {
  const { start, hear } = webhooks()
  await happened()
  start()
  await until(async () => (await outbox()).length === 0)
  /** Has what was put into the outbox taken, several times: who was woken beside it has looked by then, too. */
  const heard = async (kinds: { events: boolean; changes: boolean }): Promise<void> => {
    for (let times = 0; times < 3; times++) {
      const id = await happened(kinds.events ? undefined : '')
      hear(kinds)
      await until(async () => !(await outbox()).includes(id))
    }
  }
  const other = await happened()
  await heard({ events: false, changes: true })
  expect(await outbox()).toEqual([other])
  const change = await happened('')
  await heard({ events: true, changes: false })
  expect(await outbox()).toEqual([change])
})

test('every second it is looked for what nobody has told of', async () => {
  await subscribed()
  const { start } = webhooks()
  start()
  await happened()
  vi.advanceTimersByTime(999)
  await happened()
  vi.advanceTimersByTime(1)
  await receiver.until(2)
})

test('every hour what is older than the days that are kept is forgotten; that it could not be is told', async () => {
  const old = `evt_${(Date.now() - 31 * 86_400_000).toString(16).padStart(12, '0')}`
  await queue.event({ id: old })
  let isAway = false
  const { database } = queue
  const query: typeof database.query = async statement => {
    if (isAway && statement.text.includes('oldest')) throw new Error('away')
    return database.query(statement)
  }
  const { start, lines } = webhooks({ database: { ...database, query } })
  start()
  vi.advanceTimersByTime(3_599_999)
  expect(await queue.query('select from event')).toHaveLength(1)
  vi.advanceTimersByTime(1)
  await until(async () => (await queue.query('select from event')).length === 0)
  isAway = true
  vi.advanceTimersByTime(3_600_000)
  await until(() => warned(lines, 'webhooks: could not delete expired events').length > 0)
  expect(warned(lines, 'webhooks: could not delete expired events')).toMatchObject([{ err: { message: 'away' } }])
})

test('what could not be sent out before is tried again by a process that starts; that it could not be is told', async () => {
  await subscribed()
  await happened(undefined, { problem: 'x' })
  const { start, wake } = webhooks()
  start()
  await until(async () => (await queue.query('select from event_outbox where problem is not null')).length === 0)
  wake()
  await receiver.until(1)
  const { database } = queue
  const query: typeof database.query = async statement => {
    if (statement.text.includes('set problem')) throw new Error('away')
    return database.query(statement)
  }
  const { start: startBroken, lines } = webhooks({ database: { ...database, query } })
  startBroken()
  await until(() => lines.length > 0)
  expect(lines).toMatchObject([{ msg: 'webhooks: could not retry undispatched events', err: { message: 'away' } }])
})

test('when it has ended nothing is under way, and nothing begins any more', async () => {
  await subscribed()
  await happened()
  const { database } = queue
  let release = (): void => {}
  const gate = new Promise<void>(done => (release = done))
  let isUnderWay = false
  const transaction: Database['transaction'] = async work => {
    isUnderWay = true
    await gate
    const result = await database.transaction(work)
    isUnderWay = false
    return result
  }
  const { start, close, wake } = webhooks({ database: { ...database, transaction } })
  start()
  let isClosed = false
  const closing = close().then(() => (isClosed = true))
  expect(vi.getTimerCount()).toBe(0)
  for (let turns = 0; turns < 50; turns++) await queue.query('select')
  expect([isUnderWay, isClosed]).toEqual([true, false])
  release()
  await closing
  wake()
  expect(isUnderWay).toBe(false)
})

/** A store of one Subscription; what is written is listed. */
function storeOf(more: object = {}) {
  const written: unknown[] = []
  const store = {
    read: async (...of: unknown[]) => {
      written.push(of)
      return { body: '{"resourceType":"Subscription","status":"active","reason":"x"}', version: 4 }
    },
    update: async (...of: unknown[]) => void written.push(of),
    ...more,
  } as unknown as Store
  return { written, storeFor: () => store }
}
const problem = { status: 'error', error: 'gone', resourceType: 'Subscription', reason: 'x' }
const change = ['Subscription', 'one', problem, { ifMatch: 4 }]

test('that a Subscription is given up is told in the resource, and to operators', async () => {
  const { written, storeFor } = storeOf()
  const lines: string[] = []
  const log = createLog('info', { write: line => void lines.push(line) })
  const tell = (id: string) => reportGivenUp({ storeFor, log }, { id, reason: 'gone' })
  await tell('Subscription/one')
  expect(written).toEqual([['Subscription', 'one'], change])
  // Nobody has made a resource of these.
  for (const id of ['whs_one', 'Other/one', 'Subscription']) await tell(id)
  expect(written).toHaveLength(2)
  const msg = 'webhooks: disabled a subscription'
  expect(lines.map(line => JSON.parse(line))).toMatchObject(
    ['Subscription/one', 'whs_one', 'Other/one', 'Subscription'].map(subscription => ({
      ...{ level: 'warn', msg, subscription, reason: 'gone' },
    })),
  )
})

test('a Subscription that was changed or deleted meanwhile stays as its owner wants it', async () => {
  const log = createLog('silent')
  const telling = (error: Error) =>
    reportGivenUp({ ...storeOf({ update: () => Promise.reject(error) }), log }, { id: 'Subscription/one', reason: '' })
  await telling(new Failure('PRECONDITION_FAILED', 'changed'))
  await expect(telling(new TypeError('a defect'))).rejects.toThrow('a defect')
})

test('an endpoint whose receiver is gone is given up', async () => {
  const { written, storeFor } = storeOf({
    parse: () => ({}),
    search: async () => ({ matches: [{ id: `r${number}` }] }),
  })
  await subscribed({ id: 'Subscription/one', watches: typeNumber('Flag'), criteria: '', events: [] })
  receiver.answer(410)
  await happened('')
  const { start } = webhooks({ storeFor })
  start()
  await until(() => written.length === 2)
  const reason = 'the receiver responded with 410 Gone'
  expect(written[1]).toEqual(['Subscription', 'one', { ...problem, error: reason }, { ifMatch: 4 }])
})

test('a Subscription whose criteria cannot be searched by any more is given up; that it could not be is told', async () => {
  const search = () => Promise.reject(new Failure('VALIDATION_FAILED', 'no such parameter'))
  const { written, storeFor } = storeOf({ parse: () => ({}), search })
  await subscribed({ id: 'Subscription/one', watches: typeNumber('Flag'), criteria: '', events: [] })
  await happened('')
  const { start, close } = webhooks({ storeFor })
  start()
  await until(() => written.length === 2)
  const reason = 'its criteria are not a valid search: no such parameter'
  expect(written[1]).toEqual(['Subscription', 'one', { ...problem, error: reason }, { ifMatch: 4 }])
  await close()
  const read = () => Promise.reject(new TypeError('a defect'))
  const broken = webhooks(storeOf({ parse: () => ({}), search, read }))
  await happened('')
  broken.start()
  const msg = 'webhooks: could not disable a subscription'
  await until(() => warned(broken.lines, msg).length > 0)
  expect(warned(broken.lines, msg)).toMatchObject([{ err: { message: 'a defect' } }])
})
