// The courier: what is due is sent, and what came of it is noted, whatever goes wrong in between.
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import type { Statement } from '../../src/db/statement.ts'
import { createLog } from '../../src/lib/log.ts'
import type { DeliveryResponse, Outgoing } from '../../src/outbound/send.ts'
import {
  type Courier,
  type CourierEvent,
  type CourierParts,
  type CourierState,
  createCourier,
  nextState,
} from '../../src/webhooks/courier.ts'
import type { Look } from '../../src/webhooks/queue.ts'
import type { Target } from '../../src/webhooks/targets.ts'
import { openQueue, type Queue, within } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})
beforeEach(() => queue.clear())
const open: Running[] = []
afterEach(async () => {
  for (const { close } of open.splice(0)) await close()
  vi.useRealTimers()
})

const silence: DeliveryResponse = {
  status: undefined,
  error: 'silence',
  excerpt: undefined,
  milliseconds: 3,
  retryAfter: undefined,
}
const answer = (status: number): DeliveryResponse => ({
  ...silence,
  status,
  error: status < 300 ? undefined : 'refused',
})

interface Sent {
  readonly outgoing: Outgoing
  end(answer: DeliveryResponse): void
}

interface Running extends Courier {
  readonly sent: Sent[]
  /** Names of statements. */
  readonly asked: string[]
  readonly told: { disclosed: string[][]; counted: unknown[]; givenUp: unknown[]; wakes: number }
  readonly lines: Record<string, unknown>[]
  /** Moves on while the courier sleeps. */
  readonly clock: { now: number }
}

/** A courier whose receivers answer when the test says so; what it tells others is listed. */
function courier(more: Partial<CourierParts> = {}, target: Partial<Target> = {}): Running {
  const sent: Sent[] = []
  const asked: string[] = []
  const told: Running['told'] = { disclosed: [], counted: [], givenUp: [], wakes: 0 }
  const lines: Running['lines'] = []
  const clock = { now: 50_000 }
  const made = createCourier({
    database: watched(asked),
    log: createLog('debug', { write: line => void lines.push(JSON.parse(line)) }),
    sender: {
      send: outgoing => new Promise(end => void sent.push({ outgoing, end })),
      close: async () => {
        for (const { end } of sent) end(silence)
      },
    },
    handOver: () => expect.unreachable(),
    targets: { of: async tasks => new Map(tasks.map(({ endpoint }) => [endpoint, targetOf(endpoint, target)])) },
    disclose: async tasks => void told.disclosed.push(tasks.map(each => `${each.event} to ${each.target.id}`)),
    givenUp: async each => void told.givenUp.push(each),
    counted: (...each) => void told.counted.push(each),
    wake: () => void told.wakes++,
    finds: () => expect.unreachable(),
    concurrency: 2,
    now: () => clock.now,
    sleep: async milliseconds => {
      clock.now += milliseconds
      await setImmediate()
    },
    ...more,
  })
  const running = { ...made, sent, asked, told, lines, clock }
  open.push(running)
  return running
}

const targetOf = (key: number, more: Partial<Target>): Target => ({
  ...{ key, revision: 1, id: `whs_${key}`, clientId: 'client', organizationId: 'clinic', wants: () => undefined },
  outgoing: ({ event }, look) => ({ method: 'POST', url: `https://${key}/`, headers: {}, body: bodyOf(event, look) }),
  ...more,
})

const bodyOf = (event: string, look: Look | undefined): string => `${event} ${look?.resource}`

/** Answers as the database does, and lists the names of statements; before one of them something else may happen. */
function watched(asked: string[], before: (name: string) => unknown = () => {}): Database {
  const { database } = queue
  return {
    ...database,
    async query(statement) {
      asked.push(statement.name!)
      await before(statement.name!)
      return database.query(statement)
    },
  }
}

const until = async (isSo: () => unknown): Promise<void> => {
  const late = AbortSignal.timeout(15_000)
  while (!(await isSo())) {
    late.throwIfAborted()
    await setImmediate()
  }
}

const attempts = (): Promise<Record<string, unknown>[]> =>
  queue.query('select * from webhook_attempt order by started_at, event')
const left = (): Promise<Record<string, unknown>[]> =>
  queue.query('select event, attempt, lease is not null as is_held, due_at from webhook_delivery order by event')
/** Waits until so many attempts are noted. */
const noted = (count: number): Promise<void> => until(async () => (await attempts()).length === count)
/** Waits until so much is in nobody's hands. */
const free = (count: number): Promise<void> =>
  until(async () => (await left()).filter(each => !each['is_held']).length === count)

/** An endpoint that so many events wait for. */
async function waited(count: number, event = {}, due = {}): Promise<[endpoint: number, events: string[]]> {
  const endpoint = await queue.endpoint()
  const events: string[] = []
  for (let at = 0; at < count; at++) {
    events.push(await queue.event(event))
    await queue.due(endpoint, events[at]!, { due_at: new Date(Date.now() - (count - at) * 1000), ...due })
  }
  return [endpoint, events]
}

/** The only one of a list. */
const only = <T>(all: readonly T[]): T => {
  expect(all).toHaveLength(1)
  return all[0]!
}

test.each<[event: CourierEvent, whenOpen: string, whenClosing: string]>([
  ['looked', 'open, behind', 'closing, behind'],
  ['took some', 'open, behind', 'closing, behind'],
  ['took all', 'open, caught up', 'closing, caught up'],
])('a courier that %s is %s; one that closes is %s', (event, whenOpen, whenClosing) => {
  for (const isBehind of [true, false]) {
    expect(said(nextState({ phase: 'open', isBehind }, event))).toBe(whenOpen)
    expect(said(nextState({ phase: 'closing', isBehind }, event))).toBe(whenClosing)
    expect(nextState({ phase: 'open', isBehind }, 'closed')).toEqual({ phase: 'closing', isBehind })
  }
})

const said = ({ phase, isBehind }: CourierState): string => `${phase}, ${isBehind ? 'behind' : 'caught up'}`

test('what is due is on record, sent, and noted with what the receiver said', async () => {
  const [endpoint, [event]] = await waited(1)
  const { take, sent, told, lines, asked } = courier()
  expect(await take()).toBe(false)
  expect(told.disclosed).toEqual([[`${event} to whs_${endpoint}`]])
  const { outgoing, end } = only(sent)
  expect(outgoing).toMatchObject({ url: `https://${endpoint}/`, body: `${event} undefined` })
  const [{ id: delivery } = { id: '' }] = await queue.query<{ id: string }>('select id from webhook_delivery')
  end({ ...answer(204), excerpt: 'thanks', milliseconds: 12 })
  await noted(1)
  expect(await left()).toEqual([])
  const kept = { endpoint, event, delivery, attempt: 1, outcome: 'delivered', status: 204, excerpt: 'thanks' }
  expect(only(await attempts())).toEqual({
    ...{ ...kept, error: null, milliseconds: 12, started_at: within(0), next_at: null },
  })
  expect(told).toMatchObject({ counted: [['delivered', 12]], givenUp: [], wakes: 0 })
  const line = { level: 'debug', delivery, event, attempt: 1, status: 204, requestId: 'request' }
  expect(only(lines)).toMatchObject({ ...line, msg: 'webhooks: delivered' })
  await until(async () => (await queue.query('select from webhook_health where failures = 0')).length === 1)
  expect(asked).toEqual(['webhook-waiting', 'webhook-claim', 'webhook-taken', 'webhook-settle', 'webhook-health'])
})

test('what is under way may end by the clock of the process when it stops', async () => {
  await waited(1)
  const { take, close, sent } = courier({ now: undefined, sleep: undefined } as object)
  await take()
  await until(() => sent.length === 1)
  const closing = close()
  only(sent).end(answer(200))
  await closing
  expect(only(await attempts())).toMatchObject({ outcome: 'delivered' })
})

test.each([
  [503, 'refused'],
  [undefined, 'silence'],
])('what fails is tried again after its delay, and the endpoint is known to fail: %s', async (status, error) => {
  const [, [event]] = await waited(1, {}, { attempt: 2 })
  const { take, sent, told, lines } = courier()
  await take()
  only(sent).end({ ...silence, status, error, milliseconds: 7 })
  await noted(1)
  expect(await left()).toEqual([{ event, attempt: 3, is_held: false, due_at: within(303) }])
  expect(only(await attempts())).toMatchObject({ outcome: 'failed', attempt: 2, status: status ?? null, error })
  expect(told.counted).toEqual([['failed', 7]])
  const line = { level: 'info', event, attempt: 2, error, requestId: 'request' }
  expect(only(lines)).toMatchObject({ ...line, msg: 'webhooks: failed', again: expect.any(Number) })
  await until(async () => (await queue.query('select from webhook_health where failures = 1')).length === 1)
})

test('whoever answers that it is gone is given up', async () => {
  const [key] = await waited(1)
  const { take, sent, told } = courier()
  await take()
  only(sent).end(answer(410))
  await until(() => told.givenUp.length > 0)
  expect(told.givenUp).toMatchObject([{ key, reason: 'the receiver responded with 410 Gone' }])
  expect(only(await attempts())).toMatchObject({ outcome: 'exhausted', status: 410 })
})

test('where nothing is due nobody is asked for anything', async () => {
  const { take, told, asked } = courier({ targets: { of: () => expect.unreachable() } })
  expect(await take()).toBe(false)
  expect([told.disclosed, asked]).toEqual([[], ['webhook-waiting']])
})

const notDue = 'the subscriber may no longer access the data'

test('what may not be told any more is withheld, on whichever look that is found', async () => {
  const client = await queue.client({ consent_exempt: false })
  const endpoint = await queue.endpoint({ client_id: client })
  const event = await queue.event({ audience: '["other"]' })
  await queue.due(endpoint, event)
  const { take, sent, told, lines, close } = courier({}, { wants: () => 'nothing' })
  await take()
  await noted(1)
  const kept = { event, outcome: 'withheld', error: notDue, milliseconds: 0, started_at: within(0) }
  expect(only(await attempts())).toMatchObject({ ...kept, status: null, excerpt: null, next_at: null })
  expect([told.disclosed, told.counted, sent]).toEqual([[[]], [['withheld', 0]], []])
  expect(only(lines)).toMatchObject({ level: 'info', msg: 'webhooks: withheld', event, error: notDue })
  expect(only(lines)).toMatchObject({ delivery: expect.any(String), requestId: 'request' })
  await close()

  const own = await queue.event({ audience: '["clinic"]' })
  await queue.due(endpoint, own)
  const moved = async () =>
    void (await queue.query(`update client set organization_id = 'moved' where id = $1`, [client]))
  const later = courier({ disclose: moved }, { wants: () => 'nothing' })
  await later.take()
  await noted(2)
  expect((await attempts()).find(each => each['event'] === own)).toMatchObject({ outcome: 'withheld', error: notDue })
  expect([later.told.counted, later.sent]).toEqual([[['withheld', 0]], []])
  expect(await left()).toEqual([])
})

test('an endpoint that has changed since gets nothing by what was known of it: it is taken again', async () => {
  const [endpoint, [event]] = await waited(1)
  const { take, sent } = courier({ targets: { of: async () => new Map() } })
  await take()
  await free(1)
  expect([await left(), sent]).toEqual([[{ event, attempt: 1, is_held: false, due_at: within(0) }], []])
  const looking = courier({}, { wants: () => 'version' })
  const disclose = async () =>
    void (await queue.query('update webhook_endpoint set revision = 2 where key = $1', [endpoint]))
  const changed = courier({ disclose }, { wants: () => 'version' })
  await changed.take()
  await free(1)
  expect([changed.sent, await attempts()]).toEqual([[], []])
  await queue.query('update webhook_endpoint set revision = 1')
  await looking.take()
  await until(() => looking.sent.length === 1)
  expect(only(looking.sent).outgoing.body).toBe(`${event} null`)
})

test('what a target cannot send is withheld if that is final, and an attempt that failed if it is not', async () => {
  await waited(1)
  const final = courier({}, { outgoing: () => ({ reason: 'no such thing', isFinal: true }) })
  await final.take()
  await noted(1)
  expect(only(await attempts())).toMatchObject({ outcome: 'withheld', error: 'no such thing' })
  await queue.clear()
  await waited(1)
  const passing = courier({}, { outgoing: () => ({ reason: 'no key', isFinal: false }) })
  await passing.take()
  await noted(1)
  const kept = { outcome: 'failed', error: 'no key', status: null, excerpt: null, milliseconds: 0 }
  expect(only(await attempts())).toMatchObject({ ...kept, next_at: within(60) })
  expect([...final.sent, ...passing.sent]).toEqual([])
})

test('what no search has confirmed is asked for first, and is no delivery if nothing is found', async () => {
  const [endpoint, [found, other]] = await waited(2, {}, { is_checked: false })
  await queue.query(`update event set resource_id = id`)
  const asked: unknown[] = []
  const finds = async (...of: unknown[]): Promise<boolean> => {
    asked.push(of)
    return of[1] === found
  }
  const { take, sent, asked: statements } = courier({ finds })
  await take()
  await until(async () => (await left()).length === 1)
  expect(asked.toSorted()).toEqual(
    [
      [endpoint, found],
      [endpoint, other],
    ].toSorted(),
  )
  expect(only(sent).outgoing.body).toBe(`${found} undefined`)
  expect([await attempts(), statements.slice(3)]).toEqual([[], ['webhook-drop']])
})

test('what could not be begun is told to operators, and tried again', async () => {
  await waited(1, {}, { is_checked: false })
  const { take, sent, lines } = courier({ finds: () => Promise.reject(new Error('too slow')) })
  await take()
  await free(1)
  expect([sent, await attempts()]).toEqual([[], []])
  expect(only(lines)).toMatchObject({
    ...{ level: 'warn', msg: 'webhooks: could not start a delivery', err: { message: 'too slow' } },
    ...{ event: expect.any(String), delivery: expect.any(String) },
  })
})

test('nothing is sent that could not be put on record', async () => {
  await waited(2)
  const { take, sent } = courier({ disclose: () => Promise.reject(new Error('the trail is away')) })
  await expect(take()).rejects.toThrow('the trail is away')
  await free(2)
  expect(sent).toEqual([])
})

test.each([
  [0, false, true],
  [100, false, true],
  [101, true, true],
  [15_000, true, true],
  [15_001, false, false],
])(
  'after %i ms it is asked once more whether something may be told, and after 15 s it is not begun',
  async (age, asks, sends) => {
    const [, [event]] = await waited(1, {}, { is_checked: false })
    const finds = async (): Promise<boolean> => {
      clock.now = takenAt + age
      return true
    }
    let takenAt = 0
    const asked: string[] = []
    const database = watched(asked, name => {
      if (name === 'webhook-waiting') takenAt = clock.now
    })
    const { take, sent, clock } = courier({ finds, database })
    await take()
    if (sends) await until(() => sent.length === 1)
    else await free(1)
    expect([sent.map(({ outgoing }) => outgoing.body), asked.includes('webhook-look')]).toEqual([
      sends ? [`${event} ${asks ? null : undefined}`] : [],
      asks,
    ])
  },
)

test('an attempt is noted at whatever moment it ends', async () => {
  for (let turns = 0; turns < 6; turns++) {
    await queue.clear()
    await waited(2)
    const { database } = queue
    const query: Database['query'] = async statement => {
      const rows = await database.query(statement)
      if (statement.name === 'webhook-health' && told.counted.length === 1) void endLater()
      return rows as never
    }
    const { take, sent, told } = courier({ database: { ...database, query } })
    const endLater = async (): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) await undefined
      sent[1]!.end(answer(200))
    }
    await take()
    sent[0]!.end(answer(200))
    await noted(2)
  }
})

test.each([
  [[2, 2], false],
  [[2, 3], true],
  [[2, 4], true],
] as const)(
  'when %j wait for two endpoints and something has ended, it is looked for more: %s',
  async (counts, isMore) => {
    for (const count of counts) await waited(count)
    const { take, close, sent, told } = courier({ concurrency: 1 })
    expect(await take()).toBe(false)
    expect(sent).toHaveLength(2)
    sent[0]!.end(answer(200))
    await noted(1)
    await close()
    expect(told.wakes > 0).toBe(isMore)
  },
)

test.each([
  [1, 1, false],
  [1, 2, true],
  [3, 0, true],
  [2, 0, false],
] as const)(
  'while %i are in hand for an endpoint and %i are taken, there may be more: %s',
  async (first, then, isMore) => {
    const [endpoint] = await waited(first)
    const { take, close, sent, told } = courier()
    await take()
    for (let count = 0; count < then; count++) await queue.due(endpoint, await queue.event())
    await take()
    sent[0]!.end(answer(200))
    await noted(1)
    await close()
    expect(told.wakes > 0).toBe(isMore)
  },
)

test('what ends while it is looked for more has it looked for once more', async () => {
  await waited(1)
  const asked: string[] = []
  const isSecond = (name: string): boolean =>
    name === 'webhook-claim' && asked.filter(each => each === name).length === 2
  const database = watched(asked, async name => {
    if (!isSecond(name)) return
    sent[0]!.end(answer(200))
    await until(() => told.wakes > 0)
  })
  const { take, sent, told } = courier({ database })
  await take()
  await waited(1)
  expect(await take()).toBe(false)
  expect(sent).toHaveLength(2)
})

/** So many endpoints, each with an event that waits for it. */
async function many(endpoints: number): Promise<void> {
  const client = await queue.client()
  await queue.query(
    `insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets)
      select 'whs_many' || n, $1, 0, 0, '', '{}', '' from generate_series(1, $2) as n`,
    [client, endpoints],
  )
  await queue.query(
    `insert into webhook_delivery (endpoint, event, id) select key, $1, gen_random_uuid() from webhook_endpoint`,
    [await queue.event()],
  )
}

test('two hundred are taken at a time, and when one of them has ended it is looked for more', async () => {
  await many(201)
  const { take, close, sent, told } = courier()
  expect(await take()).toBe(true)
  expect(sent).toHaveLength(200)
  sent[0]!.end(answer(200))
  await noted(1)
  for (const { end } of sent) end(answer(200))
  await close()
  expect(told.wakes).toBeGreaterThan(0)
})

test('two thousand are in hand at most, and as many more as have ended are taken', async () => {
  let [earlier, taken] = [0, 0]
  const asked: string[] = []
  const query = async ({ name, values }: Statement): Promise<object[]> => {
    asked.push(name!)
    if (name === 'webhook-waiting') return [{}]
    if (name === 'webhook-claim') [earlier, taken] = [earlier + taken, values[2] as number]
    else if (name !== 'webhook-taken') return []
    const row = { revision: 1, attempt: 1, is_due: true, is_checked: true, event: 'evt_1', delivery: '' }
    return Array.from({ length: taken }, (_, index) => ({
      ...row,
      place: index + 1,
      endpoint: (earlier + index) % 667,
    }))
  }
  const { take, sent, told } = courier({
    concurrency: 4,
    database: { ...queue.database, query: query as Database['query'] },
  })
  for (let count = 0; count < 10; count++) expect(await take()).toBe(true)
  const before = asked.length
  expect(await take()).toBe(false)
  expect([sent.length, asked.length]).toEqual([2000, before])
  sent[0]!.end(answer(200))
  await until(() => told.wakes > 0)
  expect(await take()).toBe(true)
  expect(sent).toHaveLength(2001)
  for (const { end } of sent) end(answer(200))
})

test('an endpoint that answers nothing for a second keeps nothing waiting in this process', async () => {
  await waited(3)
  const { take, sent, clock } = courier({ concurrency: 1 })
  await take()
  clock.now += 1001
  await queue.query(`update webhook_endpoint set is_active = false`)
  await take()
  await free(2)
  expect(sent).toHaveLength(1)
})

const isSettling = (name: string): boolean => name === 'webhook-settle'

test.each([
  [29_999, 1],
  [30_000, 0],
])('what cannot be noted is noted later, unless its lease has ended meanwhile: after %i ms', async (age, count) => {
  await waited(1)
  vi.useFakeTimers({ toFake: ['Date'] })
  const asked: string[] = []
  const database = watched(asked, name => {
    if (isSettling(name) && asked.filter(isSettling).length < 2 + count) throw new Error('the database is away')
  })
  const { take, close, sent, lines, told, clock } = courier({ database })
  await take()
  vi.setSystemTime(Date.now() + age)
  const before = clock.now
  sent[0]!.end(answer(200))
  const problems = () => lines.filter(({ level }) => level === 'warn')
  const rounds = 1 + count
  await until(() => problems().length === rounds)
  if (count > 0) await noted(count)
  await close()
  expect(problems()[0]).toMatchObject({
    ...{ msg: 'webhooks: could not record the outcome of attempts', attempts: 1 },
    err: { message: 'the database is away' },
  })
  expect(clock.now - before).toBeGreaterThanOrEqual(500 * rounds)
  expect([await attempts(), await left()].map(each => each.length)).toEqual([count, 1 - count])
  expect(told.counted).toHaveLength(1)
})

test('a process that ends does not wait until it can note what came of its attempts', async () => {
  await waited(1)
  const database = watched([], name => {
    if (isSettling(name)) throw new Error('the database is away')
  })
  const { take, close, sent } = courier({ database })
  await take()
  const closing = close()
  sent[0]!.end(answer(200))
  await closing
  expect(await left()).toMatchObject([{ is_held: true }])
})

test('what came of attempts is noted though nobody can note how endpoints fare, or give one up', async () => {
  await waited(2)
  const database = watched([], name => {
    if (name === 'webhook-health' && lines.every(({ level }) => level !== 'warn')) throw new Error('no health')
  })
  const { take, sent, lines } = courier({ database, givenUp: () => Promise.reject(new Error('no word')) })
  await take()
  for (const [at, status] of [200, 410].entries()) {
    sent[at]!.end(answer(status))
    await noted(at + 1)
    await until(() => lines.filter(({ level }) => level === 'warn').length === at + 1)
  }
  expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
    { msg: 'webhooks: could not record the health of receivers', err: { message: 'no health' } },
    { msg: 'webhooks: could not record the health of receivers', err: { message: 'no word' } },
  ])
  expect(await left()).toEqual([])
})

test('a process that ends gives back what nobody has begun, and waits three seconds for what is under way', async () => {
  const [[, slow], [, [quick]]] = [await waited(3), await waited(1)]
  let [began, closedAt] = [Number.POSITIVE_INFINITY, 0]
  const sleep = async (milliseconds: number): Promise<void> => {
    clock.now += milliseconds
    // One answers at the last moment.
    if (clock.now - began > 2900 && sent.length === 2) sent[1]!.end(answer(200))
    await setImmediate()
  }
  const sender: CourierParts['sender'] = {
    send: outgoing => new Promise(end => void sent.push({ outgoing, end })),
    async close() {
      if (isOver) return
      closedAt = clock.now
      // Connections end a moment later.
      void (async () => {
        await until(async () => (await left()).filter(each => each['is_held']).length === 1)
        await until(async () => (await queue.query('select from webhook_health')).length === 1)
        for (let turns = 0; turns < 10; turns++) await left()
        isOver = true
        sent[0]!.end(silence)
      })()
    },
  }
  let isOver = false
  const sent: Sent[] = []
  const { take, close, clock, told } = courier({ sender, sleep, concurrency: 1 })
  await take()
  began = clock.now
  await close()
  expect(isOver).toBe(true)
  expect(closedAt - began).toBeGreaterThanOrEqual(3000)
  expect(closedAt - began).toBeLessThan(3030)
  expect(only(await attempts())).toMatchObject({ event: quick, outcome: 'delivered' })
  expect(await left()).toEqual(slow.map(event => ({ event, attempt: 1, is_held: false, due_at: within(0) })))
  expect(told.counted).toEqual([['delivered', 3]])
  expect(await take()).toBe(false)
  expect(sent).toHaveLength(2)
})

test('a process in which nothing is under way ends at once', async () => {
  let closedAt = 0
  const sender: CourierParts['sender'] = {
    send: () => expect.unreachable(),
    close: async () => void (closedAt = clock.now),
  }
  const { close, clock } = courier({ sender })
  const began = clock.now
  await close()
  expect(closedAt - began).toBeLessThan(10)
})
