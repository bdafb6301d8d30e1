// What waits to be delivered, for metrics.
import type { Backlog } from '../db/backlog.ts'

// `busy` goes from endpoint to endpoint along the index, as taking deliveries does: what is due later is not looked at.
const query = `
  with recursive busy(endpoint) as (
    (select endpoint from webhook_delivery order by endpoint limit 1)
    union all
    select (select d.endpoint from webhook_delivery d where d.endpoint > busy.endpoint order by d.endpoint limit 1)
    from busy where busy.endpoint is not null
  ), served as materialized (
    select busy.endpoint from busy join webhook_endpoint p on p.key = busy.endpoint and p.is_active
  ), first as (
    select min(d.due_at) as due_at from served cross join lateral (
      select min(w.due_at) as due_at from webhook_delivery w where w.endpoint = served.endpoint
    ) d
  ), due as (
    select count(*) as count from (
      select from served cross join lateral (
        select from webhook_delivery w where w.endpoint = served.endpoint and w.due_at <= now() limit $1::integer
      ) d limit $1::integer
    ) rows
  ), waiting as (
    select count(*) as count from (select from webhook_delivery limit $1::integer) rows
  ), subscriptions as (
    select count(*) filter (where is_active and failures = 0) as active,
      count(*) filter (where is_active and failures > 0) as failing, count(*) filter (where not is_active) as disabled
    from (
      select p.is_active, coalesce(h.failures, 0) as failures
      from webhook_endpoint p left join webhook_health h on h.endpoint = p.key limit $1::integer
    ) rows
  )
  select due.count as webhook_queue_deliveries, waiting.count as webhook_waiting_deliveries, active, failing, disabled,
    greatest(0, coalesce(extract(epoch from now() - first.due_at), 0))::float8 as webhook_oldest_due_seconds
  from due, waiting, first, subscriptions`

/** Deliveries that wait, and how subscriptions fare. */
export const webhookBacklog: Backlog = {
  name: 'webhooks',
  query,
  figures: [
    { name: 'webhook_queue_deliveries', help: 'Webhook deliveries that are due.', isCapped: true },
    {
      name: 'webhook_oldest_due_seconds',
      help: 'Age in seconds of the oldest due webhook delivery, or 0.',
    },
    { name: 'webhook_waiting_deliveries', help: 'Pending webhook deliveries, due now or later.', isCapped: true },
    {
      name: 'webhook_subscriptions',
      help: 'Subscriptions. failing: the last delivery attempts failed. disabled: no events are sent.',
      states: ['active', 'failing', 'disabled'],
      isCapped: true,
    },
  ],
}
