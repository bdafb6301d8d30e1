// The backlog of the outbox, for metrics.
import type { Backlog } from '../db/backlog.ts'

const query = `
  select count(*) filter (where problem is null) as event_outbox_events,
    count(*) filter (where problem is not null) as event_outbox_stuck_events,
    greatest(0, coalesce(extract(epoch from now() - least(
      (select happened_at from event_outbox where event <> '' and problem is null order by key limit 1),
      (select happened_at from event_outbox where event = '' and problem is null order by key limit 1))), 0)
    )::float8 as event_outbox_oldest_seconds
  from (select problem from event_outbox limit $1::integer) rows`

/** Events that wait, and those that could not be sent out. */
export const eventBacklog: Backlog = {
  name: 'events',
  query,
  figures: [
    { name: 'event_outbox_events', help: 'Events that are not yet dispatched to subscriptions.', isCapped: true },
    {
      name: 'event_outbox_oldest_seconds',
      help: 'Age in seconds of the oldest undispatched event, or 0.',
    },
    {
      name: 'event_outbox_stuck_events',
      help: 'Events that failed to dispatch and are not retried.',
      isCapped: true,
    },
  ],
}
