// What waits in the database, counted by one statement.
import { beforeAll, expect, test } from 'vitest'
import { auditBacklog } from '../../src/audit/backlog.ts'
import { archiveBacklog } from '../../src/db/archive-backlog.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { Queryable } from '../../src/db/statement.ts'
import { eventBacklog } from '../../src/events/backlog.ts'
import { createLog } from '../../src/lib/log.ts'
import { createBacklog } from '../../src/metrics/backlog.ts'
import { webhookBacklog } from '../../src/webhooks/backlog.ts'
import { onCleanup } from '../support/cleanup.ts'
import { layoutOfRun } from '../support/database.ts'
import { createTestDatabase } from '../support/service.ts'

let database: Database
beforeAll(async () => {
  database = openDatabase(await createTestDatabase(), { poolSize: 2, statementTimeout: 30_000, layout: layoutOfRun() })
  onCleanup(() => database.end())
})

const run = (text: string) => database.query({ text, values: [] })

const figures = (most?: number, on: Queryable = database) =>
  createBacklog(on, createLog('silent'), [webhookBacklog, eventBacklog, auditBacklog, archiveBacklog], most)()

async function counted(most?: number, on?: Queryable): Promise<Record<string, number>> {
  return Object.fromEntries(
    (await figures(most, on)).flatMap(({ name, values }) =>
      values.map(({ labels, value }) => [[name, ...Object.values(labels)].join(' '), Math.floor(value)]),
    ),
  )
}

/** Whole seconds of something that was so old when the test began. */
const now = (seconds: number, began: number) => Math.floor(seconds + (performance.now() - began) / 1000)

const nothing = {
  health_interop_database_up: 1,
  webhook_queue_deliveries: 0,
  webhook_oldest_due_seconds: 0,
  webhook_waiting_deliveries: 0,
  'webhook_subscriptions active': 0,
  'webhook_subscriptions failing': 0,
  'webhook_subscriptions disabled': 0,
  event_outbox_events: 0,
  event_outbox_oldest_seconds: 0,
  event_outbox_stuck_events: 0,
  audit_pending_changes: 0,
  database_log_archive_failing: 0,
  database_log_archived_seconds: 0,
}

test('where nothing waits everything is zero', async () => {
  expect(await counted()).toEqual(nothing)
})

test('what is due is told from what is due later, and from what a disabled subscription has waiting', async () => {
  const began = performance.now()
  await run(`insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets, is_active)
    select 'whs_' || n, 'client', 1, 1, 'https://receiver.example', '{}', '', n < 4 from generate_series(1, 5) n`)
  await run(
    `insert into webhook_health (endpoint, failures) select key, 3 from webhook_endpoint where id in ('whs_3', 'whs_5')`,
  )
  await run(`insert into webhook_delivery (endpoint, event, id, due_at)
    select key, 'evt_' || n, gen_random_uuid(), now() + make_interval(mins => n * case id when 'whs_2' then 1 when 'whs_5' then -60 else -1 end)
    from webhook_endpoint, generate_series(1, 7) n where id in ('whs_1', 'whs_2', 'whs_3', 'whs_5')`)
  const { webhook_oldest_due_seconds, ...rest } = await counted()
  expect(rest).toMatchObject({
    webhook_queue_deliveries: 14,
    webhook_waiting_deliveries: 28,
    'webhook_subscriptions active': 2,
    'webhook_subscriptions failing': 1,
    'webhook_subscriptions disabled': 2,
  })
  expect(webhook_oldest_due_seconds).toBeGreaterThanOrEqual(420)
  expect(webhook_oldest_due_seconds).toBeLessThanOrEqual(now(420, began))
})

test('a delivery is due from its time on, not only after it', async () => {
  await database.transaction(async on => {
    const before = await counted(undefined, on)
    await on.query({
      text: `with endpoint as (
          insert into webhook_endpoint (id, client_id, author, organization, url, events, secrets)
          values ('whs_now', 'client', 1, 1, 'https://receiver.example', '{}', '') returning key
        )
        insert into webhook_delivery (endpoint, event, id, due_at) select key, 'evt_now', gen_random_uuid(), now() from endpoint`,
      values: [],
    })
    const after = await counted(undefined, on)
    expect(after['webhook_queue_deliveries']).toBe(before['webhook_queue_deliveries']! + 1)
  })
})

test('events that nobody tries again are told from those that wait', async () => {
  const began = performance.now()
  await run(`insert into event_outbox
      (id, event, type, resource_id, version, happened_at, patient, patients, data, audience, organization_id, facility_id, request_id, problem)
    select 'evt_' || n, 'patient.created', 1, 'r', 1, now() - interval '1 hour' / n, '', '', '{}', '', '', '', '', case when n < 3 then 'broken' end
    from generate_series(1, 5) n`)
  await run(`insert into audit_pending (id, told) select gen_random_uuid(), '' from generate_series(1, 4)`)
  const { event_outbox_oldest_seconds, ...rest } = await counted()
  expect(rest).toMatchObject({ event_outbox_events: 3, event_outbox_stuck_events: 2, audit_pending_changes: 4 })
  expect(event_outbox_oldest_seconds).toBeGreaterThanOrEqual(1200)
  expect(event_outbox_oldest_seconds).toBeLessThanOrEqual(now(1200, began))
})

test('no more are counted than the most', async () => {
  const { webhook_oldest_due_seconds: _, ...rest } = await counted(2)
  expect(rest).toMatchObject({
    webhook_queue_deliveries: 2,
    webhook_waiting_deliveries: 2,
    event_outbox_events: 0,
    event_outbox_stuck_events: 2,
    audit_pending_changes: 2,
  })
  const states = ['active', 'failing', 'disabled'].map(state => rest[`webhook_subscriptions ${state}`]!)
  expect(states.reduce((sum, each) => sum + each)).toBe(2)
})

test('the description of a count states its limit', async () => {
  const limited = (await figures(2)).filter(({ help }) => help.endsWith('At most 2 are counted.'))
  expect(limited.map(({ name }) => name)).toEqual([
    ...['webhook_queue_deliveries', 'webhook_waiting_deliveries', 'webhook_subscriptions'],
    ...['event_outbox_events', 'event_outbox_stuck_events', 'audit_pending_changes'],
  ])
})
