// Sends many events of a time span to one endpoint: again, or for the first time if it was disabled when they came. Each replay is
// kept, and says what has come of its events.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Endpoint } from './endpoints.ts'
import { type ReplayState, type ReplayWish, replayable } from './replayable.ts'

/**
 * Delivers the events of a wish again, each with seven new attempts. What another replay has begun meanwhile is left to it.
 * @param by who asks for it: a client, or `user/…`
 * @throws Failure CONFLICT if the endpoint is disabled
 */
export async function replayMany(on: Queryable, endpoint: Endpoint, wish: ReplayWish, by: string): Promise<Replay> {
  if (!endpoint.isActive) throw new Failure('CONFLICT', 'The subscription is disabled: set its status to active first.')
  const { events, next } = await replayable(on, endpoint, wish)
  const begun = await on.query<{ event: string }>({
    text: `insert into webhook_delivery (endpoint, event, id, is_replay)
      select $1, event, gen_random_uuid(), true from unnest($2::text[]) as event
      on conflict do nothing returning event`,
    values: [endpoint.key, textArray(events)],
  })
  if (begun.length > 0)
    await on.query({
      text: `insert into webhook_replay (id, endpoint, user_id, state, from_at, to_at, events) values ($1, $2, $3, $4, $5, $6, $7)`,
      values: [uuidv7(), endpoint.key, by, wish.state, wish.from, wish.to, textArray(begun.map(({ event }) => event))],
    })
  return { begun: begun.length, next }
}

/** What a replay has begun. */
export interface Replay {
  /** The number of deliveries. */
  readonly begun: number
  /** Where the next replay of the same wish begins; undefined if nothing is left. */
  readonly next: string | undefined
}

/** A replay, with what has come of its events since. */
export interface Replayed {
  readonly id: string
  readonly userId: string
  readonly state: ReplayState
  readonly from: Date
  readonly to: Date
  readonly at: Date
  readonly events: number
  readonly delivered: number
  /** Still to be tried. */
  readonly waiting: number
  /** Given up. */
  readonly missed: number
}

/** Returns the last replays of an endpoint, the newest first. */
export async function lastReplays(on: Queryable, { key }: Endpoint, limit: number): Promise<Replayed[]> {
  return on.query<Replayed>({
    text: `select r.id, r.user_id as "userId", r.state, r.from_at as "from", r.to_at as "to", r.at, cardinality(r.events) as events,
        of.delivered::int, of.waiting::int, (cardinality(r.events) - of.delivered - of.waiting)::int as missed
      from (
        select *, to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) as at
        from webhook_replay where endpoint = $1 order by id desc limit ${limit}
      ) r
      cross join lateral (
        select count(*) filter (where d.id is null and exists (
            select from webhook_attempt a where a.event = e.event and a.endpoint = $1 and a.started_at >= r.at and a.outcome = 'delivered'
          )) as delivered, count(d.id) as waiting
        from unnest(r.events) as e (event) left join webhook_delivery d on d.endpoint = $1 and d.event = e.event
      ) of
      order by r.id desc`,
    values: [key],
  })
}
