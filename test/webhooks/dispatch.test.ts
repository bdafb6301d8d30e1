// From the outbox to the queue: once for everybody who is told, whatever cannot be sent out.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { retryStuck, type Waiting } from '../../src/events/waiting.ts'
import { Failure } from '../../src/lib/failure.ts'
import { createLog } from '../../src/lib/log.ts'
import { type DispatchParts, dispatch } from '../../src/webhooks/dispatch.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})
beforeEach(() => queue.clear())

/** What dispatching works with; what is asked of it is listed. */
function parts(more: Partial<DispatchParts> = {}) {
  const lines: Record<string, unknown>[] = []
  const asked: string[][] = []
  const made: DispatchParts = {
    database: queue.database,
    log: createLog('info', { write: line => void lines.push(JSON.parse(line)) }),
    environment: 'sandbox',
    healthIds: async (_, patients) => {
      asked.push([...patients])
      return new Map([['ada', 'CM-HID-ADA']])
    },
    subscribed: () => expect.unreachable(),
    ...more,
  }
  return { parts: made, lines, asked }
}

let number = 0
/** Puts an event into the outbox. @returns its id */
async function happened(more: Record<string, unknown> = {}): Promise<string> {
  const id = `evt_${String(++number).padStart(5, '0')}`
  const row = { id, event: 'encounter.created', type: 3, resource_id: `resource-${number}`, version: 1 }
  const about = {
    happened_at: new Date('2026-05-01T10:00:00.123Z'),
    patient: '',
    patients: '',
    data: '{"status":"open"}',
  }
  const origin = { audience: '*', organization_id: 'hospital', facility_id: 'ward', request_id: 'request' }
  await queue.put('event_outbox', { ...row, ...about, ...origin, ...more })
  return id
}

const outbox = (): Promise<Record<string, unknown>[]> => queue.query('select * from event_outbox order by key')
const events = (): Promise<Record<string, unknown>[]> => queue.query('select * from event order by id')
const deliveries = (): Promise<Record<string, unknown>[]> =>
  queue.query('select endpoint, event, attempt, is_replay, is_checked from webhook_delivery order by event, endpoint')
const delivery = (endpoint: number, event: string, isChecked = true) => ({
  ...{ endpoint, event, attempt: 1, is_replay: false, is_checked: isChecked },
})

test('an event gets its bytes, with the Health ID as it is now, and a delivery for everybody who is told of it', async () => {
  const client = await queue.client({ consent_exempt: false, organization_id: 'named' })
  const types = ['patient.created', 'encounter.created']
  const [one, named] = [
    await queue.endpoint({ events: types }),
    await queue.endpoint({ client_id: client, events: types }),
  ]
  await queue.endpoint({ events: ['patient.created'] })
  await queue.endpoint({ events: types, is_active: false })
  const of = { audience: '["named"]', type: 5, version: 7, request_id: 'request-1', patients: 'ada bob' }
  const [first, second, third] = [
    await happened({ patient: 'ada', ...of, resource_id: 'visit' }),
    await happened({ patient: 'ada' }),
    await happened({ patient: 'bob', audience: '["other"]' }),
  ]
  const { parts: with_, asked, lines } = parts()
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 4, hasSubscribers: true })
  expect([asked, await outbox(), lines]).toEqual([[['ada', 'bob']], [], []])
  const [sent, ...others] = await events()
  const row = { event: 'encounter.created', type: 5, resource_id: 'visit', version: 7, patient: 'ada' }
  expect(sent).toEqual({
    ...{ id: first, ...row, audience: '["named"]', patients: 'ada bob', request_id: 'request-1' },
    body: JSON.stringify({
      ...{ id: first, type: 'encounter.created', version: '1.0', created_at: '2026-05-01T10:00:00.123Z' },
      data: { health_id: 'CM-HID-ADA', status: 'open' },
      meta: {
        ...{ organization_id: 'hospital', facility_id: 'ward', environment: 'sandbox', request_id: 'request-1' },
      },
    }),
  })
  expect(others.map(({ body }) => JSON.parse(String(body)).data.health_id)).toEqual(['CM-HID-ADA', null])
  expect(await deliveries()).toEqual([
    ...[delivery(one, first), delivery(named, first)],
    ...[delivery(one, second), delivery(one, third)],
  ])
})

test('events of nobody have no Health ID, and none is looked for', async () => {
  await happened()
  const { parts: with_, asked } = parts()
  await dispatch(with_, 'events')
  expect(asked).toEqual([])
  expect(JSON.parse(String((await events())[0]!['body'])).data.health_id).toBeNull()
})

test('an event that nobody receives says whether there is any subscription that is on', async () => {
  const { parts: with_ } = parts()
  await queue.endpoint({ events: ['encounter.created'], is_active: false })
  await happened()
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 0, hasSubscribers: false })
  await queue.endpoint({ events: ['patient.created'] })
  await happened()
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 0, hasSubscribers: true })
})

test('changes are told to those who follow them, in their order, and who is not known to find one asks again', async () => {
  const endpoint = await queue.endpoint({ events: [''] })
  const own = await happened()
  const ids: string[] = []
  for (let count = 0; count < 12; count++) ids.push(await happened({ event: '', data: 'none', patient: 'ada' }))
  await queue.query(`update event_outbox set resource_id = 'moved' where id = $1`, [ids[0]])
  const seen: string[][] = []
  const subscribed = async (changes: readonly Waiting[]) => {
    seen.push(changes.map(({ id }) => id))
    return [
      { endpoint, event: ids[3]!, isChecked: true },
      { endpoint, event: ids[1]!, isChecked: false },
    ]
  }
  // However the database finds them: as they lie in the table, the first was moved behind the others.
  const database: Database = {
    ...queue.database,
    transaction: work =>
      queue.database.transaction(async on => {
        for (const way of ['indexscan', 'bitmapscan'])
          await on.query({ text: `set local enable_${way} = off`, values: [] })
        return work(on)
      }),
  }
  const { parts: with_ } = parts({ subscribed, database })
  expect(await dispatch(with_, 'changes')).toEqual({ isMore: false, made: 2, hasSubscribers: true })
  expect(seen).toEqual([ids])
  expect((await events()).map(({ id, event, body }) => [id, event, body])).toEqual([
    [ids[1], '', ''],
    [ids[3], '', ''],
  ])
  expect(await deliveries()).toEqual([delivery(endpoint, ids[1]!, false), delivery(endpoint, ids[3]!)])
  expect((await outbox()).map(({ id }) => id)).toEqual([own])
})

test('of an empty outbox nothing comes', async () => {
  const { parts: with_ } = parts()
  const names: unknown[] = []
  const database: Database = {
    ...queue.database,
    transaction: work =>
      queue.database.transaction(on => {
        const query: typeof on.query = statement => {
          names.push(statement.name)
          return on.query(statement)
        }
        return work({ ...on, query })
      }),
  }
  for (const kind of ['events', 'changes'] as const)
    expect(await dispatch({ ...with_, database }, kind)).toEqual({ isMore: false, made: 0 })
  // There is nothing to be looked up, and nothing to be written.
  expect(names).toEqual(['event-take-events', 'event-take-changes'])
})

test('five hundred are taken at a time, the oldest first', async () => {
  await happened()
  await queue.query(
    `insert into event_outbox (${columns}) select ${copied} from event_outbox, generate_series(1, 499) as n`,
  )
  const last = await happened()
  const { parts: with_ } = parts()
  expect(await dispatch(with_, 'events')).toEqual({ isMore: true, made: 0, hasSubscribers: false })
  expect((await outbox()).map(({ id }) => id)).toEqual([last])
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 0, hasSubscribers: false })
  expect(await events()).toHaveLength(501)
})

const columns =
  'id, event, type, resource_id, version, happened_at, patient, patients, data, audience, organization_id, facility_id, request_id'
const copied = columns.replace('id,', `'evt_many' || n,`)

test('what somebody else is taking is left to him', async () => {
  const [his, own] = [await happened(), await happened()]
  const { parts: with_ } = parts()
  await queue.database.transaction(async on => {
    await on.query({ text: 'select from event_outbox where id = $1 for update', values: [his] })
    await dispatch(with_, 'events')
  })
  expect([(await events()).map(({ id }) => id), (await outbox()).map(({ id }) => id)]).toEqual([[own], [his]])
})

test('what cannot be sent out stays with the reason, and keeps nobody else waiting; later it is tried again', async () => {
  const endpoint = await queue.endpoint({ events: ['encounter.created'] })
  const broken = await happened({ data: 'no JSON' })
  const sound = await happened()
  const [before] = await outbox()
  const { parts: with_, lines } = parts()
  expect(await dispatch(with_, 'events')).toEqual({ isMore: true, made: 0 })
  expect(lines).toMatchObject([
    { level: 'error', msg: 'webhooks: could not dispatch an event', event: broken, type: 'encounter.created' },
  ])
  expect(lines[0]!['err']).toMatchObject({ message: expect.stringContaining('JSON') })
  const kept = { ...before, problem: expect.stringContaining('JSON') }
  expect((await outbox())[0]).toEqual(kept)
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 1, hasSubscribers: true })
  expect(await outbox()).toEqual([kept])
  expect(await deliveries()).toEqual([delivery(endpoint, sound)])
  await queue.query(`update event_outbox set data = '{}'`)
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 0 })
  await retryStuck(queue.database)
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 1, hasSubscribers: true })
  expect(await outbox()).toEqual([])
})

test('those of several that cannot be sent out together are sent out one by one', async () => {
  const endpoint = await queue.endpoint({ events: ['encounter.created'] })
  const [first] = [await happened(), await happened({ data: 'no JSON' })]
  const { parts: with_ } = parts()
  expect(await dispatch(with_, 'events')).toEqual({ isMore: true, made: 1, hasSubscribers: true })
  expect(await deliveries()).toEqual([delivery(endpoint, first)])
})

test.each([new Failure('UNAVAILABLE', 'away'), new Failure('CONFLICT', 'deadlock')])(
  'what may go well next time is left as it is until then: %s',
  async failure => {
    const ids = [await happened({ event: '' }), await happened({ event: '' })]
    let asked = 0
    const subscribed = () => {
      asked++
      return Promise.reject(failure)
    }
    const { parts: with_, lines } = parts({ subscribed })
    await expect(dispatch(with_, 'changes')).rejects.toBe(failure)
    expect([(await outbox()).map(({ id, problem }) => [id, problem]), asked, lines]).toEqual([
      ids.map(id => [id, null]),
      1,
      [],
    ])
  },
)

test('what takes too long for many is done one by one, and if that takes too long, too, it is left until later', async () => {
  const costly = new Failure('UNAVAILABLE', 'took too long', { issue: 'too-costly' })
  const endpoint = await queue.endpoint()
  const [first, second] = [await happened({ event: '' }), await happened({ event: '' })]
  const subscribed = async (changes: readonly Waiting[]) => {
    if (changes.length > 1) throw costly
    return [{ endpoint, event: changes[0]!.id, isChecked: true }]
  }
  const { parts: with_ } = parts({ subscribed })
  expect(await dispatch(with_, 'changes')).toEqual({ isMore: true, made: 1, hasSubscribers: true })
  expect(await deliveries()).toEqual([delivery(endpoint, first)])
  const { parts: never, lines } = parts({ subscribed: () => Promise.reject(costly) })
  await expect(dispatch(never, 'changes')).rejects.toBe(costly)
  expect([await outbox(), lines]).toMatchObject([[{ id: second, problem: null }], []])
})

test.each([new Failure('INTERNAL_ERROR', 'broken'), Object.assign(new Error('broken'), { code: 'UNAVAILABLE' })])(
  'what would go wrong again keeps its reason: %s',
  async error => {
    await happened({ event: '' })
    const { parts: with_ } = parts({ subscribed: () => Promise.reject(error) })
    expect(await dispatch(with_, 'changes')).toEqual({ isMore: true, made: 0 })
    expect(await outbox()).toMatchObject([{ problem: 'broken' }])
  },
)

test('what somebody else has sent out meanwhile is no problem any more', async () => {
  let tries = 0
  const database: Database = {
    ...queue.database,
    transaction: work => (tries++ === 0 ? Promise.reject(new Error('broken')) : queue.database.transaction(work)),
  }
  const { parts: with_ } = parts({ database })
  expect(await dispatch(with_, 'events')).toEqual({ isMore: false, made: 0 })
})
