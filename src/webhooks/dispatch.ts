// Dispatch from the outbox to the queue: each event gets its final bytes and a delivery for every endpoint in its
// audience, in the transaction that takes it out of the outbox. So it is dispatched exactly once, with any number of
// processes and through a crash of any of them.
import { int2Array, int4Array, safeInt8Array, textArray } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { envelopeOf } from '../events/envelope.ts'
import { type Kind, putBack, takeWaiting, type Waiting } from '../events/waiting.ts'
import { Failure, isOutage } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Log } from '../lib/log.ts'
import { audienceOf, mayReceive, storedAbout } from './audience.ts'
import type { Following } from './followers.ts'

export interface DispatchParts {
  readonly database: Database
  readonly log: Log
  /** `environment` of the envelopes. */
  readonly environment: string
  /** Returns the current Health IDs of patients, by id. */
  readonly healthIds: (on: Queryable, patients: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** Returns the FHIR subscriptions that receive the changes. */
  readonly subscribed: (changes: readonly Waiting[]) => Promise<readonly Following[]>
}

/** What is taken at a time. */
const most = 500

/** What became of entries of the outbox. */
interface Sent {
  /** The deliveries that resulted. */
  readonly made: number
  /** True if there is any subscription; absent if nothing was sent out, so that it is not known. */
  readonly hasSubscribers?: boolean
}

interface Dispatched extends Sent {
  /** True if more waits than was taken from the outbox. */
  readonly isMore: boolean
}

/** Dispatches what waits in the outbox, the oldest first. */
export async function dispatch(parts: DispatchParts, kind: Kind): Promise<Dispatched> {
  try {
    return await dispatchMany(parts, kind)
  } catch (error) {
    // A batch that takes too long may succeed one by one.
    if (isPassing(error) && !isCostly(error)) throw error
    return dispatchOne(parts, kind)
  }
}

/** Returns true for an error that may not occur on retry. */
const isPassing = (error: unknown): boolean =>
  isOutage(error) || (error instanceof Failure && error.code === 'CONFLICT')

const isCostly = (error: unknown): boolean => error instanceof Failure && error.issue === 'too-costly'

function dispatchMany(parts: DispatchParts, kind: Kind): Promise<Dispatched> {
  return parts.database.transaction(async on => {
    const waiting = await takeWaiting(on, kind, most)
    const sent = waiting.length === 0 ? { made: 0 } : await sendOut(parts, on, waiting)
    return { isMore: waiting.length === most, ...sent }
  })
}

/** An event that cannot be dispatched does not delay the others: it stays in the outbox, with the reason, for an operator. */
async function dispatchOne(parts: DispatchParts, kind: Kind): Promise<Dispatched> {
  return parts.database.transaction(async on => {
    const [first] = await takeWaiting(on, kind, 1)
    if (!first) return { isMore: false, made: 0 }
    try {
      return { isMore: true, ...(await on.transaction(inner => sendOut(parts, inner, [first]))) }
    } catch (error) {
      if (isPassing(error)) throw error
      parts.log.error({ err: error, event: first.id, type: first.event }, 'webhooks: could not dispatch an event')
      await putBack(on, first, String((error as Error).message))
      return { isMore: true, made: 0 }
    }
  })
}

async function sendOut(parts: DispatchParts, on: Queryable, waiting: readonly Waiting[]): Promise<Sent> {
  const ordered = [...waiting].sort((left, right) => left.key - right.key)
  const patients = new Set(ordered.map(({ patient }) => patient).filter(Boolean))
  const healthIds = patients.size === 0 ? new Map<string, string>() : await parts.healthIds(on, [...patients])
  const changes = ordered.filter(({ event }) => event === '')
  const followings = changes.length === 0 ? [] : await parts.subscribed(changes)
  const followed = new Set(followings.map(({ event }) => event))
  const events = ordered.filter(({ event, id }) => event !== '' || followed.has(id))
  const bodies = events.map(each => (each.event === '' ? '' : bodyOf(parts, each, healthIds)))
  const [row] = await on.query<{ made: number; has_subscribers: boolean }>(inserting(events, bodies, followings))
  return { made: row!.made, hasSubscribers: row!.has_subscribers }
}

function bodyOf(parts: DispatchParts, waiting: Waiting, healthIds: ReadonlyMap<string, string>): string {
  const { id, event, happened_at: happenedAt } = waiting
  const data = { health_id: healthIds.get(waiting.patient) ?? null, ...(parseJson(waiting.data) as JsonObject) }
  const meta = {
    organization_id: waiting.organization_id,
    facility_id: waiting.facility_id,
    environment: parts.environment,
    request_id: waiting.request_id,
  }
  return envelopeOf({ id, type: event, happenedAt, data, meta })
}

function inserting(events: readonly Waiting[], bodies: readonly string[], followings: readonly Following[]) {
  const texts = (pick: (waiting: Waiting) => string) => textArray(events.map(pick))
  return {
    name: 'event-insert',
    text: insertText,
    values: [
      texts(({ id }) => id),
      texts(({ event }) => event),
      int2Array(events.map(({ type }) => type)),
      texts(({ resource_id }) => resource_id),
      int4Array(events.map(({ version }) => version)),
      texts(({ audience }) => audience),
      texts(({ patient }) => patient),
      texts(({ patients }) => patients),
      texts(({ request_id }) => request_id),
      textArray(bodies),
      safeInt8Array(followings.map(({ endpoint }) => endpoint)),
      textArray(followings.map(({ event }) => event)),
      int2Array(followings.map(({ isChecked }) => (isChecked ? 1 : 0))),
    ],
  }
}

const insertText = `
  with e as materialized (
    select * from unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[]) as e(id, event, type, resource_id, version, audience, patient, patients, request_id, body)
  ), ${storedAbout('e')}, events as (
    insert into event (id, event, type, resource_id, version, audience, patient, patients, request_id, body) select * from e
  ), deliveries as (
    insert into webhook_delivery (endpoint, event, id, is_checked)
    select p.key, e.id, gen_random_uuid(), true from e join webhook_endpoint p on e.event = any(p.events) and p.is_active ${audienceOf}
    where e.event <> '' and ${mayReceive}
    union all
    select endpoint, event, gen_random_uuid(), is_checked = 1
    from unnest($11::bigint[], $12::text[], $13::smallint[]) as following(endpoint, event, is_checked)
    returning 1
  )
  select count(*)::integer as made, exists (select from webhook_endpoint where is_active) as has_subscribers from deliveries`
