// What is sent once more, and to whom: to those who did not get it, else to all, and never twice at a time.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { eventTypes } from '../../src/events/event-types.ts'
import { Failure } from '../../src/lib/failure.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { findEndpoint } from '../../src/webhooks/endpoints.ts'
import { replay, sendSample } from '../../src/webhooks/replay.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
let [client, event] = ['', '']
beforeAll(async () => {
  queue = await openQueue()
  client = await queue.client()
})
beforeEach(async () => {
  await queue.clear()
  event = await queue.event()
})

let minute = 0
/** An endpoint whose attempts to get the event had these outcomes, the newest first. */
async function had(
  outcomes: readonly string[],
  more: Record<string, unknown> = {},
): Promise<{ key: number; id: string }> {
  const key = await queue.endpoint({ client_id: client, ...more })
  const delivery = crypto.randomUUID()
  for (const outcome of outcomes) {
    const times = { started_at: new Date(Date.UTC(2026, 5, 1, 12, -minute++)), milliseconds: 1 }
    await queue.put('webhook_attempt', { endpoint: key, event, delivery, attempt: 1, outcome, ...times })
  }
  const [row] = await queue.query<{ id: string }>('select id from webhook_endpoint where key = $1', [key])
  return { key, id: row!.id }
}

const begun = () =>
  queue.query<{ id: string; endpoint: string }>(
    `select d.id, p.id as endpoint from webhook_delivery d join webhook_endpoint p on p.key = d.endpoint
      where is_replay and attempt = 1 and d.event = $1 order by p.key`,
    [event],
  )
const again = () => replay(queue.database, event, client)

test('an event is sent once more to those who did not get it in the end', async () => {
  await had(['delivered', 'failed'])
  const exhausted = await had(['exhausted', 'delivered'])
  await had([])
  await had(['exhausted'], { client_id: await queue.client() })
  await had(['exhausted'], { watches: typeNumber('Flag') })
  const withheld = await had(['withheld', 'failed'])
  const other = await queue.event()
  await queue.due(exhausted.key, other)
  const made = await again()
  expect(made.map(({ endpoint }) => endpoint)).toEqual([exhausted.id, withheld.id])
  expect(await begun()).toEqual(made)
})

test('an event that all have got is sent to all of them once more', async () => {
  const all = [await had(['delivered']), await had(['delivered', 'exhausted'])]
  expect((await again()).map(({ endpoint }) => endpoint)).toEqual(all.map(({ id }) => id))
})

test('whoever is still being tried is not sent it beside that', async () => {
  const pending = await had(['failed'])
  await queue.due(pending.key, event)
  const delivered = await had(['delivered'])
  expect((await again()).map(({ endpoint }) => endpoint)).toEqual([delivered.id])
  const still = 'The event is still being delivered: see the delivery attempts of the subscription.'
  await expect(again()).rejects.toEqual(new Failure('CONFLICT', still))
  expect(await begun()).toHaveLength(1)
})

test('an event that waits for its first attempt is still being delivered', async () => {
  await queue.due((await had([])).key, event)
  await expect(again()).rejects.toThrow('still being delivered')
})

test('a subscription that is disabled has to be enabled first', async () => {
  const disabled = 'The subscription is disabled: set its status to active first.'
  await had(['exhausted'], { is_active: false })
  await expect(again()).rejects.toEqual(new Failure('CONFLICT', disabled))
  const active = await had(['exhausted'])
  // Somebody else has begun meanwhile.
  const { database } = queue
  const late: typeof database = {
    ...database,
    async query(statement) {
      if (statement.text.includes('insert into webhook_delivery')) await queue.due(active.key, event)
      return database.query(statement)
    },
  }
  await expect(replay(late, event, client)).rejects.toEqual(new Failure('CONFLICT', disabled))
  await queue.query('delete from webhook_delivery')
  expect((await again()).map(({ endpoint }) => endpoint)).toEqual([active.id])
})

test('an event that this client was never sent, or that is forgotten, is not known', async () => {
  const unknown = 'No subscription of this client received this event, or the event is no longer stored.'
  await had([])
  await had(['exhausted'], { client_id: await queue.client() })
  await expect(again()).rejects.toEqual(new Failure('EVENT_NOT_FOUND', unknown))
  await had(['exhausted'])
  await queue.query('delete from event')
  await expect(again()).rejects.toEqual(new Failure('EVENT_NOT_FOUND', unknown))
})

const sampled = {
  type: 'consent.granted',
  ...{ organizationId: 'clinic', environment: 'sandbox', requestId: 'request-1' },
} as const

test('a sample is an event like any other, for one subscription alone, and says that it is one', async () => {
  const [{ key, id: endpoint }, other] = [await had([]), await had([])]
  const sample = await sendSample(queue.database, await findEndpoint(queue.database, endpoint, client), sampled)
  expect(sample).toEqual({ event: expect.stringMatching(/^evt_/), begun: [{ id: expect.any(String), endpoint }] })
  const [made] = await queue.query<{ body: string }>('select * from event where id = $1', [sample.event])
  expect(made).toEqual({
    ...{ id: sample.event, event: 'consent.granted', type: typeNumber('Basic'), resource_id: 'test', version: 0 },
    ...{ audience: '["clinic"]', patient: '', patients: '', request_id: 'request-1', body: expect.any(String) },
  })
  expect(JSON.parse(made!.body)).toMatchObject({
    ...{ id: sample.event, type: 'consent.granted', data: eventTypes['consent.granted'].example },
    meta: {
      ...{ organization_id: 'clinic', facility_id: '', environment: 'sandbox', request_id: 'request-1', test: 'true' },
    },
  })
  expect(await queue.query('select endpoint, event, id, is_replay from webhook_delivery')).toEqual([
    { endpoint: key, event: sample.event, id: sample.begun[0]!.id, is_replay: false },
  ])
  expect(other.key).toBeGreaterThan(key)
})

test('no sample is made for a subscription that is disabled', async () => {
  const { id } = await had([], { is_active: false })
  const endpoint = await findEndpoint(queue.database, id, client)
  await expect(sendSample(queue.database, endpoint, sampled)).rejects.toEqual(
    new Failure('CONFLICT', 'The subscription is disabled: set its status to active first.'),
  )
  expect(await queue.query('select from event')).toHaveLength(1)
})
