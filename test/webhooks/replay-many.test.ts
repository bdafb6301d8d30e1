// Many events of one endpoint once more: which ones, never twice at a time, within a bound, and what has come of them.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { firstEventIdAt } from '../../src/events/outbox.ts'
import { Failure } from '../../src/lib/failure.ts'
import { type Endpoint, findEndpoint } from '../../src/webhooks/endpoints.ts'
import { prune } from '../../src/webhooks/prune.ts'
import { lastReplays, replayMany } from '../../src/webhooks/replay-many.ts'
import { mostReplayed, type ReplayWish, replayable } from '../../src/webhooks/replayable.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
let endpoint: Endpoint
let client: string
beforeAll(async () => {
  queue = await openQueue()
  client = await queue.client()
})
beforeEach(async () => {
  await queue.clear()
  await queue.query('delete from webhook_replay')
  const key = await queue.endpoint({ client_id: client })
  const [row] = await queue.query<{ id: string }>('select id from webhook_endpoint where key = $1', [key])
  endpoint = await findEndpoint(queue.database, row!.id, client)
})

const noon = new Date('2026-03-14T12:00:00Z')
const minutes = (count: number): Date => new Date(noon.getTime() + count * 60_000)
const wish = (more: Partial<ReplayWish> = {}): ReplayWish => ({ state: 'missed', from: noon, to: minutes(60), ...more })

/** An event whose attempts at the endpoint, so many minutes after noon, had these outcomes. */
async function tried(outcomes: Readonly<Record<number, string>>, key = endpoint.key, id?: string): Promise<string> {
  const event = await queue.event(id === undefined ? {} : { id })
  const delivery = crypto.randomUUID()
  for (const [after, outcome] of Object.entries(outcomes))
    await queue.put('webhook_attempt', {
      ...{ endpoint: key, event, delivery, attempt: 1, outcome, started_at: minutes(Number(after)), milliseconds: 1 },
    })
  return event
}

const found = async (more: Partial<ReplayWish> = {}) => (await replayable(queue.database, endpoint, wish(more))).events
const send = (more: Partial<ReplayWish> = {}) => replayMany(queue.database, endpoint, wish(more), 'user/amina')
const refusal = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    error => (error instanceof Failure ? error.code : error),
  )

test('those are found that were tried in the span and ended in the way that is asked for', async () => {
  const exhausted = await tried({ 0: 'failed', 59: 'exhausted' })
  const withheld = await tried({ 5: 'withheld' })
  const delivered = await tried({ 5: 'exhausted', 90: 'delivered' })
  const failed = await tried({ 10: 'failed' })
  const atOnce = { endpoint: endpoint.key, delivery: crypto.randomUUID(), started_at: minutes(10), milliseconds: 1 }
  await queue.put('webhook_attempt', { ...atOnce, event: failed, attempt: 2, outcome: 'failed' })
  await queue.put('webhook_attempt', {
    ...atOnce,
    event: withheld,
    started_at: minutes(5),
    attempt: 0,
    outcome: 'delivered',
  })
  await tried({ 5: 'exhausted' }, await queue.endpoint({ client_id: client }))
  const sorted = (...events: string[]) => events.toSorted()
  expect(await found()).toEqual(sorted(exhausted, withheld, failed))
  expect(await found({ state: 'exhausted' })).toEqual([exhausted])
  expect(await found({ state: 'withheld' })).toEqual([withheld])
  expect(await found({ state: 'delivered' })).toEqual([delivered])
  expect(await found({ state: 'all' })).toEqual(sorted(exhausted, withheld, delivered, failed))
  expect(await found({ from: minutes(59) })).toEqual([exhausted])
  expect(await found({ to: minutes(5) })).toEqual([exhausted])
  expect(await found({ from: minutes(60) })).toEqual([])
})

test('what is being tried, and what is no longer stored, is left out', async () => {
  await queue.due(endpoint.key, await tried({ 5: 'failed' }))
  const gone = await tried({ 5: 'exhausted' })
  await queue.query('delete from event where id = $1', [gone])
  expect(await found()).toEqual([])
  expect(await send()).toEqual({ begun: 0 })
  expect(await lastReplays(queue.database, endpoint, 5)).toEqual([])
})

test('each is delivered again with new attempts, and a second wish has nothing left to send', async () => {
  const events = [await tried({ 5: 'exhausted' }), await tried({ 6: 'withheld' })]
  expect(await send()).toEqual({ begun: 2 })
  const begun = await queue.query('select event, attempt, is_replay from webhook_delivery order by event')
  expect(begun).toEqual(events.toSorted().map(event => ({ event, attempt: 1, is_replay: true })))
  expect(await send()).toEqual({ begun: 0 })
})

test('nothing is sent to an endpoint that is disabled', async () => {
  await tried({ 5: 'exhausted' })
  expect(await refusal(replayMany(queue.database, { ...endpoint, isActive: false }, wish(), 'user/amina'))).toBe(
    'CONFLICT',
  )
  expect(await queue.query('select from webhook_delivery')).toEqual([])
})

test('a wish sends so many at most, the oldest first, and says that there are more', async () => {
  const add = (from: number, to: number) =>
    queue.query(
      `with made as (
          insert into event (id, event, type, resource_id, version, audience, patient, patients, request_id, body)
          select 'evt_' || lpad(n::text, 8, '0'), 'x', 1, 'r', 1, '[]', '', '', '', '{}' from generate_series($1::int, $2::int) n returning id
        )
        insert into webhook_attempt (endpoint, event, delivery, attempt, outcome, started_at, milliseconds)
        select $3, id, gen_random_uuid(), 1, 'exhausted', $4, 1 from made`,
      [from, to, endpoint.key, noon],
    )
  await add(1, mostReplayed)
  expect((await replayable(queue.database, endpoint, wish())).next).toBeUndefined()
  await add(mostReplayed + 1, mostReplayed + 2)
  const { events, next } = await replayable(queue.database, endpoint, wish())
  expect([events.length, events[0], next]).toEqual([mostReplayed, 'evt_00000001', events.at(-1)])
  expect(await found({ after: next! })).toHaveLength(2)
  expect(await send()).toEqual({ begun: mostReplayed, next })
  expect(await send()).toEqual({ begun: 2 })
  expect(await replayable(queue.database, endpoint, wish())).toEqual({ events: [] })
})

describe('events that an endpoint was never sent', () => {
  const during = (minute: number, rest = '0001') => firstEventIdAt(minutes(minute)) + rest
  beforeEach(() =>
    queue.query(`update webhook_endpoint set events = '{encounter.created}' where key = $1`, [endpoint.key]),
  )

  test('are found by the time of the change, if they are of its types and no sample', async () => {
    const [first, second] = [during(0), during(59)]
    for (const id of [second, first]) await queue.event({ id })
    await queue.event({ id: during(-1) })
    await queue.event({ id: during(60) })
    await queue.event({ id: during(5), event: 'consent.revoked' })
    await queue.event({ id: during(6), version: 0 })
    await queue.due(endpoint.key, await queue.event({ id: during(7) }))
    const failed = await tried({ 5: 'exhausted' }, endpoint.key, during(8))
    await tried({ 5: 'exhausted' }, await queue.endpoint({ client_id: client }), during(9))
    expect(await found({ state: 'unsent' })).toEqual([first, during(9), second])
    expect(await found()).toEqual([first, failed, during(9), second])
    expect(await found({ state: 'all' })).toEqual([first, failed, during(9), second])
    for (const state of ['exhausted', 'withheld', 'delivered'] as const)
      expect(await found({ state })).toEqual(state === 'exhausted' ? [failed] : [])
    expect(await found({ after: failed })).toEqual([during(9), second])
  })

  test('are looked for among so many at most, and the answer says where to go on', async () => {
    await queue.query(
      `insert into event (id, event, type, resource_id, version, audience, patient, patients, request_id, body)
        select $1 || lpad(n::text, 8, '0'), case when n = 50001 then 'encounter.created' else 'consent.revoked' end, 1, 'r', 1, '*', '', '', '', '{}'
        from generate_series(1, 50001) n`,
      [firstEventIdAt(noon)],
    )
    const late = await tried({ 5: 'exhausted' }, endpoint.key, during(30))
    const { events, next } = await replayable(queue.database, endpoint, wish())
    expect([events, next]).toEqual([[], during(0, '00050000')])
    expect(await replayable(queue.database, endpoint, wish({ after: next! }))).toEqual({
      events: [during(0, '00050001'), late],
    })
  })
})

test('a replay says who asked for what, and what has come of it', async () => {
  const events = []
  for (const minute of [5, 6, 7, 8]) events.push(await tried({ [minute]: 'exhausted' }))
  const [good, better, bad] = events as [string, string, string]
  expect(await send({ state: 'exhausted' })).toEqual({ begun: 4 })
  const [before] = await lastReplays(queue.database, endpoint, 5)
  expect(before).toMatchObject({ userId: 'user/amina', state: 'exhausted', from: noon, to: minutes(60) })
  expect(before).toMatchObject({ events: 4, delivered: 0, waiting: 4, missed: 0 })
  expect(Math.abs(before!.at.getTime() - Date.now())).toBeLessThan(60_000)
  const now = new Date(Date.now() + 1000)
  const attempt = { endpoint: endpoint.key, delivery: crypto.randomUUID(), started_at: now, milliseconds: 1 }
  await queue.query('delete from webhook_delivery where event in ($1, $2, $3)', [good, better, bad])
  await queue.put('webhook_attempt', { ...attempt, attempt: 1, event: good, outcome: 'delivered' })
  await queue.put('webhook_attempt', { ...attempt, attempt: 2, event: better, outcome: 'delivered' })
  await queue.put('webhook_attempt', { ...attempt, attempt: 3, event: bad, outcome: 'exhausted' })
  expect(await lastReplays(queue.database, endpoint, 5)).toMatchObject([{ delivered: 2, waiting: 1, missed: 1 }])
  await tried({ 9: 'withheld' })
  await queue.query(`update webhook_replay set id = '018e0000-0000-7000-8000-000000000000'`)
  await send({ state: 'withheld' })
  const last = async (limit: number) => (await lastReplays(queue.database, endpoint, limit)).map(({ state }) => state)
  expect([await last(5), await last(1)]).toEqual([['withheld', 'exhausted'], ['withheld']])
})

test('replays are kept as long as events are', async () => {
  await tried({ 5: 'exhausted' })
  await send()
  await queue.query(`insert into webhook_replay
    select '018e0000-0000-7000-8000-000000000000', endpoint, user_id, state, from_at, to_at, events from webhook_replay`)
  expect(await lastReplays(queue.database, endpoint, 5)).toHaveLength(2)
  // With the event, its delivery and its attempt, which are of no later than March.
  expect(await prune(queue.database, 30)).toBe(4)
  expect(await lastReplays(queue.database, endpoint, 5)).toHaveLength(1)
})
