// What waits in the outbox, for metrics.
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
    { name: 'event_outbox_events', help: 'Events of which it is to be found out who is told.', isCapped: true },
    {
      name: 'event_outbox_oldest_seconds',
      help: 'Seconds for which the oldest of them has waited; 0: none does.',
    },
    {
      name: 'event_outbox_stuck_events',
      help: 'Events that could not be sent out, and are not tried again.',
      isCapped: true,
    },
  ],
}
