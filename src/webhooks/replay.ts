// Sends something again: an event that a client's subscriptions did not receive, or a sample to try one out.
import type { Queryable } from '../db/statement.ts'
import { envelopeOf } from '../events/envelope.ts'
import { type EventType, eventTypes } from '../events/event-types.ts'
import { newEventId } from '../events/outbox.ts'
import { Failure } from '../lib/failure.ts'
import { typeNumber } from '../store/type-number.ts'
import type { Endpoint } from './endpoints.ts'

/** A delivery that has begun. */
export interface Begun {
  readonly id: string
  /** The subscription. */
  readonly endpoint: string
}

interface Former {
  readonly key: number
  readonly is_active: boolean
  readonly is_pending: boolean
  readonly outcome: string | null
}

/**
 * Delivers an event again to those subscriptions of a client that did not receive it; if all did, to all of them.
 * @throws Failure EVENT_NOT_FOUND for one that was not for this client, CONFLICT while it is still being tried, or if
 * the subscriptions are disabled.
 */
export async function replay(on: Queryable, event: string, clientId: string): Promise<Begun[]> {
  const former = await on.query<Former>({
    text: `select p.key, p.is_active, d.id is not null as is_pending, last.outcome
      from webhook_endpoint p
      left join webhook_delivery d on d.endpoint = p.key and d.event = $1
      left join lateral (select a.outcome from webhook_attempt a where a.event = $1 and a.endpoint = p.key order by a.started_at desc limit 1) last on true
      where p.client_id = $2 and p.watches is null and exists (select from event e where e.id = $1)
        and (d.id is not null or last.outcome is not null)`,
    values: [event, clientId],
  })
  if (former.length === 0)
    throw new Failure(
      'EVENT_NOT_FOUND',
      'No subscription of this client received this event, or the event is no longer stored.',
    )
  const ended = former.filter(each => !each.is_pending)
  const missed = ended.filter(({ outcome }) => outcome !== 'delivered')
  const wanted = missed.length > 0 ? missed : ended
  const keys = wanted.filter(each => each.is_active).map(({ key }) => key)
  const begun = await begin(on, event, keys, true)
  if (begun.length > 0) return begun
  throw new Failure(
    'CONFLICT',
    wanted.some(each => !each.is_active)
      ? 'The subscription is disabled: set its status to active first.'
      : 'The event is still being delivered: see the delivery attempts of the subscription.',
  )
}

async function begin(on: Queryable, event: string, endpoints: readonly number[], isReplay: boolean): Promise<Begun[]> {
  return on.query<Begun>({
    text: `with begun as (
        insert into webhook_delivery (endpoint, event, id, is_replay)
        select key, $1, gen_random_uuid(), $3 from unnest($2::bigint[]) as key
        on conflict do nothing returning id, endpoint
      )
      select b.id, p.id as endpoint from begun b join webhook_endpoint p on p.key = b.endpoint order by p.key`,
    values: [event, endpoints, isReplay],
  })
}

/** Where a sample comes from. */
export interface Sampled {
  readonly type: EventType
  readonly organizationId: string
  readonly environment: string
  readonly requestId: string
}

/**
 * Delivers an invented event of a type to one subscription.
 * @throws Failure CONFLICT if the subscription is disabled.
 */
export async function sendSample(
  on: Queryable,
  endpoint: Endpoint,
  { type, organizationId, environment, requestId }: Sampled,
): Promise<{ event: string; begun: Begun[] }> {
  if (!endpoint.isActive) throw new Failure('CONFLICT', 'The subscription is disabled: set its status to active first.')
  const id = newEventId()
  const meta = { organization_id: organizationId, facility_id: '', environment, request_id: requestId, test: 'true' }
  const body = envelopeOf({ id, type, happenedAt: new Date(), data: eventTypes[type].example, meta })
  await on.query({
    text: `insert into event (id, event, type, resource_id, version, audience, patient, patients, request_id, body)
      values ($1, $2, $3, 'test', 0, $4, '', '', $5, $6)`,
    values: [id, type, typeNumber('Basic'), JSON.stringify([organizationId]), requestId, body],
  })
  return { event: id, begun: await begin(on, id, [endpoint.key], false) }
}
