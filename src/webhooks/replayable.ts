// Which events of a time span are sent to an endpoint again: those whose last attempt ended in a certain way, and those that it was
// never sent, as after a time in which it was disabled.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { firstEventIdAt } from '../events/outbox.ts'
import { audienceOf, mayReceive, storedAbout } from './audience.ts'
import type { Endpoint } from './endpoints.ts'

/** How the last attempt of an event ended. `unsent`: there was none. `missed`: not delivered. */
export const replayStates = ['missed', 'exhausted', 'withheld', 'unsent', 'delivered', 'all'] as const

export type ReplayState = (typeof replayStates)[number]

const outcomes: Readonly<Record<ReplayState, readonly string[]>> = {
  missed: ['failed', 'exhausted', 'withheld'],
  exhausted: ['exhausted'],
  withheld: ['withheld'],
  unsent: [],
  delivered: ['delivered'],
  all: ['failed', 'exhausted', 'withheld', 'delivered'],
}

const withUnsent: readonly ReplayState[] = ['missed', 'unsent', 'all']

/** Which events are sent again. */
export interface ReplayWish {
  readonly state: ReplayState
  /** Of attempts; of the change itself if there was no attempt. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  /** The `next` of an earlier answer: events up to there are left out. */
  readonly after?: string
}

/** Most events of one replay. */
export const mostReplayed = 1000

/** Stored events that are looked at in one statement for those never sent, and statements for one answer. */
const [lookedAt, looks] = [5000, 10]

export interface Replayable {
  /** The oldest first, at most `mostReplayed`. */
  readonly events: readonly string[]
  /** The event after which more may follow; undefined if none does. */
  readonly next: string | undefined
}

/** Returns the events that would be sent again: those that are stored, and that are not being tried already. */
export async function replayable(on: Queryable, endpoint: Endpoint, wish: ReplayWish): Promise<Replayable> {
  const tried = outcomes[wish.state].length === 0 ? [] : await triedBefore(on, endpoint, wish)
  const { events: unsent, end } = withUnsent.includes(wish.state) ? await neverSent(on, endpoint, wish) : none
  const found = [...tried, ...unsent].filter(event => end === undefined || event <= end).sort()
  const events = found.slice(0, mostReplayed)
  return { events, next: found.length > mostReplayed ? events.at(-1) : end }
}

async function triedBefore(on: Queryable, { key }: Endpoint, { state, from, to, after = '' }: ReplayWish) {
  const rows = await on.query<{ event: string }>({
    text: `select tried.event from (
        select distinct event from webhook_attempt where endpoint = $1 and started_at >= $2 and started_at < $3 and event > $5
      ) tried
      join event e on e.id = tried.event
      cross join lateral (
        select a.outcome from webhook_attempt a where a.event = tried.event and a.endpoint = $1
        order by a.started_at desc, a.attempt desc limit 1
      ) last
      where last.outcome = any($4::text[])
        and not exists (select from webhook_delivery d where d.endpoint = $1 and d.event = tried.event)
      order by tried.event limit ${mostReplayed + 1}`,
    values: [key, from, to, textArray(outcomes[state]), after],
  })
  return rows.map(({ event }) => event)
}

interface Unsent {
  readonly events: readonly string[]
  /** The last event that was looked at; undefined if no other follows in the span. */
  readonly end: string | undefined
}

const none: Unsent = { events: [], end: undefined }

async function neverSent(on: Queryable, { key }: Endpoint, { from, to, after = '' }: ReplayWish): Promise<Unsent> {
  const [first, last] = [firstEventIdAt(from), firstEventIdAt(to)]
  const events: string[] = []
  let end: string | undefined = after > first ? after : first
  for (let look = 0; look < looks && end !== undefined && events.length <= mostReplayed; look++) {
    const found: LookedAt = await lookAfter(on, key, end, last)
    events.push(...found.events)
    end = found.end ?? undefined
  }
  return { events, end }
}

interface LookedAt {
  readonly events: readonly string[]
  readonly end: string | null
}

async function lookAfter(on: Queryable, key: number, after: string, before: string): Promise<LookedAt> {
  const [row] = await on.query<LookedAt>({ name: 'webhook-unsent', text: unsentText, values: [key, after, before] })
  return row!
}

// Test events have no version. Those of other types are passed before anything is asked about them.
const unsentText = `
  with looked as materialized (
    select id, event, type, resource_id, version, audience, patient from event where id > $2 and id < $3 order by id limit ${lookedAt}
  ), e as materialized (
    select looked.* from looked join webhook_endpoint p on p.key = $1 and looked.event = any(p.events)
    where looked.version > 0
      and not exists (select from webhook_attempt a where a.event = looked.id and a.endpoint = $1)
      and not exists (select from webhook_delivery d where d.event = looked.id and d.endpoint = $1)
  ), ${storedAbout('e')}
  select array(select e.id from e join webhook_endpoint p on p.key = $1 ${audienceOf} where ${mayReceive} order by e.id) as events,
    (select max(id) from looked having count(*) = ${lookedAt}) as end`
