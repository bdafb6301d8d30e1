// The queue of deliveries: what is taken of it, and what is left there once something has come of it.
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { claim } from '../../src/webhooks/claim.ts'
import { drop, lookAgain, type Result, release, settle, type Task } from '../../src/webhooks/queue.ts'
import { openQueue, type Queue, within } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})
beforeEach(() => queue.clear())

const take = (more: Partial<Parameters<typeof claim>[1]> = {}): Promise<Task[]> =>
  claim(queue.database, { lease: 7n, seconds: 30, most: 100, usual: 3, rooms: new Map(), ...more })

/** What of each endpoint was taken, in order. */
const takenOf = (tasks: readonly Task[]): [number, string][] =>
  tasks.map(({ endpoint, event }): [number, string] => [endpoint, event]).sort()

/** An endpoint that so many events wait for, the oldest first. */
async function waited(count: number, row: Record<string, unknown> = {}): Promise<[endpoint: number, events: string[]]> {
  const endpoint = await queue.endpoint(row)
  const events: string[] = []
  for (let at = 0; at < count; at++) {
    events.push(await queue.event())
    await queue.due(endpoint, events[at]!, { due_at: new Date(Date.now() - (count - at) * 1000) })
  }
  return [endpoint, events]
}

interface Waiting {
  endpoint: number
  event: string
  attempt: number
  lease: number | null
  due_at: Date
}

/** What is in the queue. */
const left = (): Promise<Waiting[]> =>
  queue.query<Waiting>(`select endpoint, event, attempt, lease, due_at from webhook_delivery order by endpoint, event`)

test('whoever takes a delivery has all that it takes to send it, and nobody else takes it for so many seconds', async () => {
  const client = await queue.client({ consent_exempt: false, organization_id: 'hospital' })
  const endpoint = await queue.endpoint({ client_id: client, revision: 4 })
  const [told, untold] = [
    await queue.event({
      ...{ type: 3, resource_id: 'visit', version: 5, audience: '["hospital"]', patients: 'ada bob' },
      ...{ request_id: 'request-1', body: '{"id":1}' },
    }),
    await queue.event({ type: 4, resource_id: 'other', version: 6, patient: 'ada' }),
  ]
  const [one, other] = [randomUUID(), randomUUID()]
  await queue.due(endpoint, told, { id: one, attempt: 2, is_replay: true, is_checked: false })
  await queue.due(endpoint, untold, { id: other })
  const tasks = await take({ lease: 12n })
  const common = { endpoint, revision: 4, lease: 12n }
  expect(tasks.toSorted((a, b) => (a.event < b.event ? -1 : 1))).toEqual([
    {
      ...{ ...common, event: told, delivery: one, attempt: 2, isReplay: true, isDue: true, knowsPatient: true },
      ...{ body: '{"id":1}', isOfReaders: false, isChecked: false, patients: 'ada bob', requestId: 'request-1' },
      source: { type: 3, id: 'visit', version: 5 },
    },
    {
      ...{ ...common, event: untold, delivery: other, attempt: 1, isReplay: false, isDue: false, knowsPatient: false },
      ...{ body: '{}', isOfReaders: true, isChecked: true, patients: '', requestId: 'request' },
      source: { type: 4, id: 'other', version: 6 },
    },
  ])
  expect(await left()).toEqual([
    { endpoint, event: told, attempt: 2, lease: 12, due_at: within(30) },
    { endpoint, event: untold, attempt: 1, lease: 12, due_at: within(30) },
  ])
  expect(await take()).toEqual([])
})

test('of an empty queue nothing is taken', async () => {
  expect(await take()).toEqual([])
})

test('of each endpoint the oldest are taken: so many usually, one if it fails, and of some as many as there is room for', async () => {
  const [[usual, ofUsual], [well, ofWell], [failing, ofFailing], [roomy, ofRoomy], [full]] = [
    await waited(3),
    await waited(3),
    await waited(2),
    await waited(4),
    await waited(2),
  ]
  await queue.put('webhook_health', { endpoint: well, failures: 0 })
  for (const endpoint of [failing, roomy]) await queue.put('webhook_health', { endpoint, failures: 3 })
  const rooms = new Map([
    [roomy, 3],
    [full, 0],
  ])
  expect(takenOf(await take({ usual: 2, rooms }))).toEqual([
    ...ofUsual.slice(0, 2).map(event => [usual, event]),
    ...ofWell.slice(0, 2).map(event => [well, event]),
    [failing, ofFailing[0]],
    ...ofRoomy.slice(0, 3).map(event => [roomy, event]),
  ])
})

test('no more are taken than is said, and no endpoint has its share of that twice', async () => {
  const [[first, ofFirst], [second, ofSecond]] = [await waited(3), await waited(2)]
  expect(takenOf(await take({ usual: 1, most: 2 }))).toEqual([
    [first, ofFirst[0]],
    [second, ofSecond[0]],
  ])
  expect(await take({ most: 2 })).toHaveLength(2)
  expect(await take()).toHaveLength(1)
})

test('what is not due, is for an endpoint that is disabled, or is in other hands waits', async () => {
  const [endpoint, [locked, later]] = await waited(2)
  const [open, [free]] = await waited(1)
  await waited(1, { is_active: false })
  await queue.query(`update webhook_delivery set due_at = clock_timestamp() + interval '1 s' where event = $1`, [later])
  await queue.database.transaction(async on => {
    await on.query({ text: 'select from webhook_delivery where event = $1 for update', values: [locked] })
    expect(takenOf(await take())).toEqual([[open, free]])
  })
  expect(takenOf(await take())).toEqual([[endpoint, locked]])
})

/** One task of an endpoint that nothing else waits for. */
async function taken(): Promise<Task> {
  await waited(1)
  return (await take())[0]!
}

test('immediately before something is sent it is asked how things stand then, and what the resource is or was', async () => {
  const client = await queue.client({ consent_exempt: false, organization_id: 'x', scopes: ['system/Basic.rs'] })
  const endpoint = await queue.endpoint({ client_id: client, revision: 2 })
  const at = { updated_at: new Date(), method: 2 }
  // Others that have the type, the id, or the version with it in common, but are not it.
  for (const [table, type, id, version] of [
    ...[['resource', 8, 'one', 2] as const, ['resource', 9, 'one', 1] as const, ['resource', 8, 'two', 1] as const],
    ...[['history', 9, 'one', 1] as const, ['history', 8, 'two', 1] as const, ['history', 8, 'one', 7] as const],
    ['history', 8, 'one', 1] as const,
  ]) {
    const { key, shard } = await queue.place({ type, id })
    const placed = table === 'resource' ? { key, shard } : { shard, subject: 0, author: 0 }
    await queue.put(table, { ...at, ...placed, type, id, version, body: `${table} ${type} ${id} ${version}` })
  }
  const audience = '["x"]'
  const [former, current, gone, hidden] = [
    await queue.event({ type: 8, resource_id: 'one', version: 1, audience }),
    await queue.event({ type: 8, resource_id: 'one', version: 2, audience }),
    await queue.event({ type: 8, resource_id: 'none', version: 1, audience }),
    await queue.event({ type: 8, resource_id: 'one', version: 1, audience: '["y"]' }),
  ]
  const look = (event: string, wanted: Parameters<typeof lookAgain>[2], revision = 2, key = endpoint) =>
    lookAgain(queue.database, { endpoint: key, event, revision } as Task, wanted)
  const due = { isDue: true, knowsPatient: true, scopes: ['system/Basic.rs'] }
  expect(await look(former, 'nothing')).toEqual({ ...due, resource: null })
  expect(await look(former, 'version')).toEqual({ ...due, resource: 'history 8 one 1' })
  expect(await look(former, 'current')).toEqual({ ...due, resource: 'resource 8 one 2' })
  expect(await look(current, 'version')).toEqual({ ...due, resource: 'resource 8 one 2' })
  expect(await look(gone, 'current')).toEqual({ ...due, resource: null })
  expect(await look(gone, 'version')).toEqual({ ...due, resource: null })
  expect(await look(hidden, 'nothing')).toEqual({ ...due, isDue: false, resource: null })
  const unknown = await queue.event({ patient: 'ada' })
  expect(await look(unknown, 'nothing')).toMatchObject({ isDue: false, knowsPatient: false })
  // The endpoint has changed, is gone, or was disabled.
  expect(await look(former, 'nothing', 1)).toBeUndefined()
  expect(await look(former, 'nothing', 2, endpoint + 1000)).toBeUndefined()
  const disabled = await queue.endpoint({ client_id: client, revision: 2, is_active: false })
  expect(await look(former, 'nothing', 2, disabled)).toBeUndefined()
})

const result = (task: Task, more: Partial<Result>): Result => ({
  ...{ task, outcome: 'failed', startedAt: new Date('2026-05-01T10:00:00.123Z'), milliseconds: 12 },
  ...{ status: undefined, error: undefined, excerpt: undefined, again: undefined, ...more },
})

test('a delivery that has ended leaves the queue, one that is tried again waits for its time, and each attempt is kept', async () => {
  const [done, failed, soon] = [await taken(), await taken(), await taken()]
  // Others of the same endpoints, that nobody has taken.
  const other = await queue.event()
  for (const { endpoint } of [done, failed]) await queue.due(endpoint, other)
  const more = { milliseconds: 15.6, status: 503, error: 'responded with 503', excerpt: 'busy', again: 60.5 }
  await settle(queue.database, [
    result(done, { outcome: 'delivered', status: 204 }),
    result(failed, more),
    result(soon, { again: 0.001 }),
  ])
  expect(await left()).toEqual([
    { endpoint: done.endpoint, event: other, attempt: 1, lease: null, due_at: within(-1) },
    { endpoint: failed.endpoint, event: failed.event, attempt: 2, lease: null, due_at: within(60.5) },
    { endpoint: failed.endpoint, event: other, attempt: 1, lease: null, due_at: within(-1) },
    { endpoint: soon.endpoint, event: soon.event, attempt: 2, lease: null, due_at: within(0) },
  ])
  const attempts = await queue.query('select * from webhook_attempt order by endpoint')
  const kept = { outcome: 'failed', started_at: new Date('2026-05-01T10:00:00.123Z'), attempt: 1, milliseconds: 12 }
  const none = { status: null, error: null, excerpt: null, next_at: null }
  const ofTask = ({ endpoint, event, delivery }: Task) => ({ ...kept, ...none, endpoint, event, delivery })
  expect(attempts).toEqual([
    { ...ofTask(done), outcome: 'delivered', status: 204 },
    {
      ...{ ...ofTask(failed), milliseconds: 16, status: 503, error: 'responded with 503', excerpt: 'busy' },
      next_at: within(60.5),
    },
    { ...ofTask(soon), next_at: within(0) },
  ])
})

test('what came of an attempt is kept once, though it is noted twice', async () => {
  const task = await taken()
  const again = 60
  for (let times = 0; times < 2; times++) await settle(queue.database, [result(task, { again })])
  expect(await queue.query('select from webhook_attempt')).toHaveLength(1)
  expect(await left()).toMatchObject([{ attempt: 2, lease: null }])
})

test('a task that somebody else has taken meanwhile stays his, whatever is noted or given back', async () => {
  const [ended, failed, back, dropped] = [await taken(), await taken(), await taken(), await taken()]
  await queue.query(`update webhook_delivery set lease = 8, due_at = clock_timestamp() + interval '20 s'`)
  await settle(queue.database, [result(ended, { outcome: 'delivered' }), result(failed, { again: 60 })])
  await release(queue.database, [back])
  await drop(queue.database, [dropped])
  const his = { attempt: 1, lease: 8, due_at: within(20) }
  expect(await left()).toEqual(
    [ended, failed, back, dropped].map(({ endpoint, event }) => ({ ...his, endpoint, event })),
  )
})

test('tasks that nobody has begun are due again at once, and those that were none are gone', async () => {
  const [[endpoint, events], [beside, [other]]] = [await waited(3), await waited(1)]
  const tasks = (await take()).toSorted((a, b) => (a.event < b.event ? -1 : 1))
  await release(queue.database, [tasks[0]!])
  await drop(queue.database, [tasks[1]!])
  expect(await left()).toEqual([
    { endpoint, event: events[0], attempt: 1, lease: null, due_at: within(0) },
    { endpoint, event: events[2], attempt: 1, lease: 7, due_at: within(30) },
    { endpoint: beside, event: other, attempt: 1, lease: 7, due_at: within(30) },
  ])
})
