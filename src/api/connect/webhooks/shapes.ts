// What the webhook operations take and give (interface §2.13, §6).

import { type EventType, eventTypes } from '../../../events/event-types.ts'
import { Type } from '../../../lib/schema.ts'
import { moment, nullable } from '../../../shapes/fields.ts'
import type { Endpoint } from '../../../webhooks/endpoints.ts'
import { replayStates } from '../../../webhooks/replayable.ts'

const callbackUrl = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'The URL that receives events by POST: https, and reachable from the internet.',
  examples: ['https://hospital.example.org/webhooks'],
})
export const names = Object.keys(eventTypes) as EventType[]
const events = Type.Array(Type.String({ maxLength: 60 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Event types, as listed by GET /api/v1/connect/webhooks/event-types.',
  examples: [['lab_result.released', 'consent.revoked']],
})
const description = Type.String({
  maxLength: 500,
  pattern: '^[^\\u0000]*$',
  description: 'A description for your own use.',
})

export const SubscriptionWish = Type.Object(
  { callback_url: callbackUrl, subscribed_events: events, description: Type.Optional(description) },
  { $id: 'WebhookSubscriptionRequest', additionalProperties: false },
)

export const SubscriptionChange = Type.Object(
  {
    callback_url: Type.Optional(callbackUrl),
    subscribed_events: Type.Optional(events),
    description: Type.Optional(description),
    status: Type.Optional(
      Type.Enum(['active', 'disabled'], {
        description:
          'disabled: no new events are sent and pending deliveries wait. active: deliveries resume; replay the subscription to receive the events in between.',
      }),
    ),
  },
  { $id: 'WebhookSubscriptionChange', additionalProperties: false, minProperties: 1 },
)

const subscription = {
  id: Type.String({ pattern: '^whs_', description: 'The id of the subscription.' }),
  callback_url: callbackUrl,
  subscribed_events: events,
  description,
  status: Type.Enum(['active', 'failing', 'disabled'], {
    description: 'failing: the last delivery attempts failed. disabled: no events are sent.',
  }),
  disabled_reason: nullable(Type.String({ description: 'Why the subscription is disabled. Null if it is not.' })),
  payload_mode: Type.Enum(['thin', 'full'], {
    description:
      'thin: events carry ids and flags. full: events also carry the FHIR resource; an administrator must permit this.',
  }),
  created_at: moment('When it was created.'),
  updated_at: moment('When the subscription was last changed.'),
  last_delivery_at: nullable(moment('When an event was last delivered. Null if none was.')),
  failure_count: Type.Integer({ minimum: 0, description: 'Failed delivery attempts since the last success.' }),
}

export const Subscription = Type.Object(subscription, { $id: 'WebhookSubscription' })

const webhook_secret = Type.String({
  pattern: '^whsec_',
  description: 'The signing secret. It appears only once: store it where the receiver can read it.',
})

export const CreatedSubscription = Type.Object(
  { ...subscription, webhook_secret: Type.Optional(webhook_secret) },
  {
    $id: 'CreatedWebhookSubscription',
    description: 'The subscription and its signing secret. A reply replayed for an Idempotency-Key omits the secret.',
  },
)

export const RotateRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description:
          'Seconds for which the previous secret remains valid. Default: one day. 0 ends all previous secrets immediately.',
      }),
    ),
  },
  { $id: 'WebhookSecretRotation', additionalProperties: false },
)

export const RotatedSubscription = Type.Object(
  {
    ...subscription,
    webhook_secret: Type.Optional(webhook_secret),
    previous_secret_expires_at: moment('Until then, events are signed with both secrets.'),
  },
  { $id: 'RotatedWebhookSubscription' },
)

export const TestRequest = Type.Object(
  {
    type: Type.Optional(Type.Enum(names, { description: 'The event type. Default: the first subscribed event type.' })),
  },
  { $id: 'WebhookTest', additionalProperties: false },
)

export const Deliveries = Type.Object(
  {
    event_id: Type.String({ pattern: '^evt_' }),
    deliveries: Type.Array(
      Type.Object({
        delivery_id: Type.String({ format: 'uuid', description: 'The id of the new delivery.' }),
        subscription_id: Type.String(),
        status: Type.Literal('pending'),
      }),
    ),
  },
  { $id: 'WebhookDeliveries', description: 'The deliveries that were started.' },
)

export const ReplayRequest = Type.Object(
  {
    from: moment('The start of the time span: of delivery attempts or, for events without one, of the change.'),
    to: Type.Optional(moment('The end of the time span, exclusive. Default: now.')),
    state: Type.Optional(
      Type.Enum([...replayStates], {
        description:
          'How the last attempt ended. missed: all that were not delivered. exhausted: all attempts failed. withheld: the client could not access the data. unsent: there was no attempt. delivered: the receiver accepted it. Default: missed.',
      }),
    ),
  },
  { $id: 'WebhookReplayRequest', additionalProperties: false },
)

export const Replay = Type.Object(
  {
    subscription_id: Type.String(),
    deliveries_started: Type.Integer({ minimum: 0, description: 'How many events are sent again.' }),
    has_more: Type.Boolean({ description: 'True if more events may follow.' }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'The cursor of the next call, with the same body. Null if nothing follows.',
    }),
  },
  { $id: 'WebhookReplay', description: 'The deliveries that were started.' },
)

export const Attempt = Type.Object(
  {
    delivery_id: Type.String({ format: 'uuid', description: 'The id of the delivery, shared by its attempts.' }),
    event_id: Type.String({ pattern: '^evt_' }),
    event_type: nullable(Type.String({ description: 'The event type. Null if the event is no longer stored.' })),
    attempt: Type.Integer({ minimum: 1, maximum: 7 }),
    outcome: Type.Enum(['delivered', 'failed', 'exhausted', 'withheld'], {
      description:
        'failed: a retry follows. exhausted: no retry follows. withheld: nothing was sent because the client may no longer access the data.',
    }),
    started_at: moment('When the attempt began.'),
    duration_ms: Type.Integer({ minimum: 0 }),
    http_status: nullable(
      Type.Integer({ description: 'The HTTP status from the receiver. Null if it did not respond.' }),
    ),
    error: nullable(
      Type.String({ description: 'Why the attempt failed.', examples: ['no response within 10 seconds'] }),
    ),
    response_excerpt: nullable(Type.String({ description: 'The first part of the response body.' })),
    next_attempt_at: nullable(moment('When the next retry is due. Null if there is none.')),
  },
  { $id: 'WebhookAttempt' },
)

export const EventTypes = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        type: Type.Enum(names),
        description: Type.String(),
        schema: Type.Unknown({ description: 'The JSON Schema (2020-12) of the event.' }),
        example: Type.Unknown({ description: 'An example event.' }),
      }),
    ),
  },
  { $id: 'WebhookEventTypes', description: 'All event types.' },
)

/** Returns a subscription in the form of the interface. */
export const shownEndpoint = (endpoint: Endpoint) => ({
  id: endpoint.id,
  callback_url: endpoint.url,
  subscribed_events: endpoint.events,
  description: endpoint.description,
  status: endpoint.isActive ? (endpoint.failures > 0 ? 'failing' : 'active') : 'disabled',
  disabled_reason: endpoint.disabledBecause ?? null,
  payload_mode: endpoint.isFull ? 'full' : 'thin',
  created_at: endpoint.createdAt.toISOString(),
  updated_at: endpoint.updatedAt.toISOString(),
  last_delivery_at: endpoint.lastDeliveryAt?.toISOString() ?? null,
  failure_count: endpoint.failures,
})
