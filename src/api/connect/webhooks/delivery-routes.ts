// Delivery attempts of a client's webhooks, and repeating deliveries (interface §6.4).

import type { EventType } from '../../../events/event-types.ts'
import { type Reply, type Route, reply, route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { listName, page, pageOf, pageQuery, wantedOf } from '../../../lib/paging.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import { type AttemptRow, attemptsOf } from '../../../webhooks/attempts.ts'
import { findEndpoint } from '../../../webhooks/endpoints.ts'
import { type Begun, replay, sendSample } from '../../../webhooks/replay.ts'
import { replayMany } from '../../../webhooks/replay-many.ts'
import type { ConnectParts } from '../parts.ts'
import { common, subscriptionParam, subscriptions, webhooks } from './common.ts'
import { Attempt, Deliveries, Replay, ReplayRequest, TestRequest } from './shapes.ts'

export const deliveryRoutes = (parts: ConnectParts): Route[] => [
  attemptsRoute(parts),
  testRoute(parts),
  replayRoute(parts),
  replayManyRoute(parts),
]

const eventId = Type.String({ maxLength: 100, examples: ['evt_019be6f0a7c57d4f8f0d3a4b5c6d7e8f'] })

function attemptsRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${subscriptions}/{subscription_id}/attempts`,
    operationId: 'listWebhookAttempts',
    summary: 'List the delivery attempts of a webhook subscription, newest first',
    params: subscriptionParam,
    query: Type.Object({ event_id: Type.Optional(eventId), ...pageQuery }, { additionalProperties: false }),
    replies: { 200: pageOf(Attempt, 'WebhookAttempts', 'A page of delivery attempts.') },
    async handle({ params, query, caller }) {
      const { key } = await findEndpoint(parts.databaseFor(caller), params.subscription_id, caller.clientId)
      const list = listName('webhook-attempts', { ...query, key })
      const wanted = wantedOf(parts.cursors, list, query)
      const rows = await attemptsOf(parts.databaseFor(caller), key, query.event_id, wanted.after, wanted.limit + 1)
      const position = ({ at, delivery, attempt }: AttemptRow) => [at, delivery, String(attempt)]
      return reply(200, page(parts.cursors, list, wanted, rows, { position, item: shownAttempt }))
    },
  })
}

const shownAttempt = (row: AttemptRow) => ({
  delivery_id: row.delivery,
  event_id: row.event,
  event_type: row.event_type,
  attempt: row.attempt,
  outcome: row.outcome,
  started_at: row.started_at.toISOString(),
  duration_ms: row.milliseconds,
  http_status: row.status,
  error: row.error,
  response_excerpt: row.excerpt,
  next_attempt_at: row.next_at?.toISOString() ?? null,
})

function testRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${subscriptions}/{subscription_id}/test`,
    operationId: 'testWebhookSubscription',
    summary: 'Send a signed test event',
    description:
      'The test event has `test: "true"` in its meta and made-up data. The access rules for real events are not checked.',
    params: subscriptionParam,
    body: TestRequest,
    bodyOptional: true,
    maxBodyBytes: 4096,
    replies: { 202: Deliveries },
    async handle({ params, body, caller, requestId }) {
      const on = parts.databaseFor(caller)
      const { organizationId } = caller
      const sent = await on.transaction(async within => {
        const endpoint = await findEndpoint(within, params.subscription_id, caller.clientId)
        const type = body?.type ?? (endpoint.events[0] as EventType)
        const sample = await sendSample(within, endpoint, {
          ...{ type, organizationId, requestId, environment: parts.environment },
        })
        within.afterwards(parts.wakeWebhooks)
        return sample
      })
      return begunReply(sent.event, sent.begun)
    },
  })
}

function replayRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${webhooks}/events/{event_id}/replay`,
    operationId: 'replayWebhookEvent',
    summary: 'Replay an event to the subscriptions that did not receive it',
    description:
      'If every subscription of the client received the event, replays it to all of them. The event keeps its id and body, and gets seven new delivery attempts.',
    params: Type.Object({ event_id: eventId }),
    body: Type.Object({}, { additionalProperties: false }),
    bodyOptional: true,
    maxBodyBytes: 4096,
    replies: { 202: Deliveries },
    async handle({ params, caller }) {
      const begun = await parts.databaseFor(caller).transaction(async on => {
        on.afterwards(parts.wakeWebhooks)
        return replay(on, params.event_id, caller.clientId)
      })
      return begunReply(params.event_id, begun)
    },
  })
}

function replayManyRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${subscriptions}/{subscription_id}/replay`,
    operationId: 'replayWebhookSubscription',
    summary: 'Replay the events of a time span that a webhook subscription did not receive',
    description:
      'Includes the events that occurred while the subscription was disabled. Starts up to 1000 deliveries, the oldest events first. While has_more is true, call again with next_cursor. Only events that the client may access now are sent.',
    params: subscriptionParam,
    query: Type.Object({ cursor: pageQuery.cursor }, { additionalProperties: false }),
    body: ReplayRequest,
    maxBodyBytes: 4096,
    replies: { 202: Replay },
    async handle({ params: { subscription_id }, query: { cursor }, body, caller }) {
      const list = listName(`webhook-replay ${subscription_id}`, body)
      const [after] = cursor === undefined ? [] : parts.cursors.read(list, cursor)
      const wish = { ...spanOf(body, parts.now()), state: body.state ?? 'missed', after }
      const { begun, next } = await parts.databaseFor(caller).transaction(async on => {
        on.afterwards(parts.wakeWebhooks)
        return replayMany(on, await findEndpoint(on, subscription_id, caller.clientId), wish, caller.clientId)
      })
      return reply(202, {
        subscription_id,
        deliveries_started: begun,
        has_more: next !== undefined,
        next_cursor: next === undefined ? null : parts.cursors.write(list, [next]),
      })
    },
  })
}

/** @throws Failure VALIDATION_FAILED for a span that is none. */
function spanOf(body: Static<typeof ReplayRequest>, now: Date): { from: Date; to: Date } {
  const [from, to] = [new Date(body.from), body.to === undefined ? now : new Date(body.to)]
  if (from < to) return { from, to }
  const field = body.to === undefined ? 'from' : 'to'
  const message = field === 'to' ? 'must be later than from' : 'must be in the past'
  throw new Failure('VALIDATION_FAILED', `${field} ${message}.`, { details: [{ field, code: 'range', message }] })
}

const begunReply = (event: string, begun: readonly Begun[]): Reply =>
  reply(202, {
    event_id: event,
    deliveries: begun.map(({ id, endpoint }) => ({ delivery_id: id, subscription_id: endpoint, status: 'pending' })),
  })
