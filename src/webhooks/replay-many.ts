// Sends many events to one endpoint again: those that were attempted in a time span and ended in a certain way. Each replay is kept, and
// says what has come of its events.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { uuidv7 } from '../lib/ids.ts'
import type { Endpoint } from './endpoints.ts'

/** How the last attempt of an event ended; `missed`: in any way but `delivered`. */
export const replayStates = ['missed', 'exhausted', 'withheld', 'delivered', 'all'] as const

type ReplayState = (typeof replayStates)[number]

const outcomes: Readonly<Record<ReplayState, readonly string[]>> = {
  missed: ['failed', 'exhausted', 'withheld'],
  exhausted: ['exhausted'],
  withheld: ['withheld'],
  delivered: ['delivered'],
  all: ['failed', 'exhausted', 'withheld', 'delivered'],
}

/** Which events are sent again. */
export interface ReplayWish {
  readonly state: ReplayState
  /** Of attempts. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
}

/** Most events of one replay. */
export const mostReplayed = 1000

export interface Replayable {
  /** The oldest first, at most `mostReplayed`. */
  readonly events: readonly string[]
  readonly hasMore: boolean
}

/** Returns the events that would be sent again: those that are stored, and that are not being tried already. */
export async function replayable(
  on: Queryable,
  { key }: Endpoint,
  { state, from, to }: ReplayWish,
): Promise<Replayable> {
  const rows = await on.query<{ event: string }>({
    text: `select tried.event from (
        select distinct event from webhook_attempt where endpoint = $1 and started_at >= $2 and started_at < $3
      ) tried
      join event e on e.id = tried.event
      cross join lateral (
        select a.outcome from webhook_attempt a where a.event = tried.event and a.endpoint = $1
        order by a.started_at desc, a.attempt desc limit 1
      ) last
      where last.outcome = any($4::text[])
        and not exists (select from webhook_delivery d where d.endpoint = $1 and d.event = tried.event)
      order by tried.event limit ${mostReplayed + 1}`,
    values: [key, from, to, textArray(outcomes[state])],
  })
  return { events: rows.slice(0, mostReplayed).map(({ event }) => event), hasMore: rows.length > mostReplayed }
}

/**
 * Delivers the events of a wish again, each with seven new attempts. What another replay has begun meanwhile is left to it.
 * @param user who asks for it: `user/…`
 * @returns the number of deliveries that have begun
 * @throws Failure CONFLICT if the endpoint is disabled, or nothing is left to send
 */
export async function replayMany(on: Queryable, endpoint: Endpoint, wish: ReplayWish, user: string): Promise<number> {
  if (!endpoint.isActive) throw new Failure('CONFLICT', 'The subscription is disabled: set its status to active first.')
  const { events } = await replayable(on, endpoint, wish)
  const begun = await on.query<{ event: string }>({
    text: `insert into webhook_delivery (endpoint, event, id, is_replay)
      select $1, event, gen_random_uuid(), true from unnest($2::text[]) as event
      on conflict do nothing returning event`,
    values: [endpoint.key, textArray(events)],
  })
  if (begun.length === 0)
    throw new Failure('CONFLICT', 'Nothing is left to send again: look at the deliveries that wait.')
  await on.query({
    text: `insert into webhook_replay (id, endpoint, user_id, state, from_at, to_at, events) values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [uuidv7(), endpoint.key, user, wish.state, wish.from, wish.to, textArray(begun.map(({ event }) => event))],
  })
  return begun.length
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
