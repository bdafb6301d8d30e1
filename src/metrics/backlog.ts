// What waits in the database: webhooks, events, changes that the audit trail has still to tell. One statement for each scrape, whatever waits.
import type { Queryable } from '../db/statement.ts'
import type { Log } from '../lib/log.ts'
import { type Figure, gauge, plain } from './figures.ts'

/** Milliseconds after which the scrape goes on without the database. */
const patience = 2000

interface Row {
  readonly due: number
  readonly waiting: number
  readonly oldest_due: number
  readonly outbox: number
  readonly oldest_event: number
  readonly stuck: number
  readonly active: number
  readonly failing: number
  readonly disabled: number
  readonly pending: number
}

/**
 * The figures of the database; of one that does not answer only that it does not. Whoever asks meanwhile gets the same answer.
 * @param most rows that are counted of a kind; more are not looked at.
 */
export function createBacklog(database: Queryable, log: Log, most = 100_000): () => Promise<Figure[]> {
  let asked: Promise<Row | undefined> | undefined
  const ask = (): Promise<Row | undefined> =>
    database
      .query<Row>({ name: 'metrics-backlog', text, values: [most] })
      .then(rows => rows[0])
      .catch(err => void log.warn({ err }, 'metrics: what waits in the database could not be counted'))
      .finally(() => (asked = undefined))
  return async () => {
    const row = await atLast((asked ??= ask()), patience)
    const help = `Whether the database has answered within ${patience / 1000} s.`
    return [plain('health_interop_database_up', help, row ? 1 : 0), ...(row ? figuresOf(row, most) : [])]
  }
}

/** What a promise gives within so many milliseconds. */
async function atLast<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(done => (timer = setTimeout(done, milliseconds, undefined)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function figuresOf(row: Row, most: number): Figure[] {
  const capped = `At most ${most} are counted.`
  const state = (name: 'active' | 'failing' | 'disabled') => ({ value: row[name], labels: { state: name } })
  return [
    plain('webhook_queue_deliveries', `Webhooks that are due now. ${capped}`, row.due),
    plain(
      'webhook_oldest_due_seconds',
      'Seconds for which the oldest webhook has been due; 0: none is.',
      row.oldest_due,
    ),
    plain('webhook_waiting_deliveries', `Webhooks to be delivered, due or later. ${capped}`, row.waiting),
    gauge(
      'webhook_subscriptions',
      `Subscriptions. failing: the last delivery attempts failed. disabled: no events are sent. ${capped}`,
      ...[state('active'), state('failing'), state('disabled')],
    ),
    plain('event_outbox_events', `Events of which it is to be found out who is told. ${capped}`, row.outbox),
    plain(
      'event_outbox_oldest_seconds',
      'Seconds for which the oldest of them has waited; 0: none does.',
      row.oldest_event,
    ),
    plain(
      'event_outbox_stuck_events',
      `Events that could not be sent out, and are not tried again. ${capped}`,
      row.stuck,
    ),
    plain(
      'audit_pending_changes',
      `Requests of whose changes the audit trail has still to tell. ${capped}`,
      row.pending,
    ),
  ]
}

// `busy` goes from endpoint to endpoint along the index, as taking deliveries does: what is due later is not looked at.
const text = `
  with recursive busy(endpoint) as (
    (select endpoint from webhook_delivery order by endpoint limit 1)
    union all
    select (select d.endpoint from webhook_delivery d where d.endpoint > busy.endpoint order by d.endpoint limit 1)
    from busy where busy.endpoint is not null
  ), served as materialized (
    select busy.endpoint from busy join webhook_endpoint p on p.key = busy.endpoint and p.is_active
  ), first as (
    select min(d.due_at) as due_at from served cross join lateral (
      select w.due_at from webhook_delivery w where w.endpoint = served.endpoint order by w.due_at limit 1
    ) d
  ), due as (
    select count(*) as count from (
      select from served cross join lateral (
        select from webhook_delivery w where w.endpoint = served.endpoint and w.due_at <= now() limit $1::integer
      ) d limit $1::integer
    ) rows
  ), waiting as (
    select count(*) as count from (select from webhook_delivery limit $1::integer) rows
  ), outbox as (
    select count(*) filter (where problem is null) as events, count(*) filter (where problem is not null) as stuck,
      least(
        (select happened_at from event_outbox where event <> '' and problem is null order by key limit 1),
        (select happened_at from event_outbox where event = '' and problem is null order by key limit 1)) as oldest
    from (select problem from event_outbox limit $1::integer) rows
  ), subscriptions as (
    select count(*) filter (where is_active and failures = 0) as active,
      count(*) filter (where is_active and failures > 0) as failing, count(*) filter (where not is_active) as disabled
    from (
      select p.is_active, coalesce(h.failures, 0) as failures
      from webhook_endpoint p left join webhook_health h on h.endpoint = p.key limit $1::integer
    ) rows
  ), pending as (
    select count(*) as count from (select from audit_pending limit $1::integer) rows
  )
  select due.count as due, waiting.count as waiting, active, failing, disabled, events as outbox, stuck, pending.count as pending,
    greatest(0, coalesce(extract(epoch from now() - first.due_at), 0))::float8 as oldest_due,
    greatest(0, coalesce(extract(epoch from now() - outbox.oldest), 0))::float8 as oldest_event
  from due, waiting, first, outbox, subscriptions, pending`
