// What the webhook operations take and give (interface §2.13, §6).
import { Type } from 'typebox'
import { type EventType, eventTypes } from '../../../events/event-types.ts'
import { moment, nullable } from '../../../shapes/fields.ts'
import type { Endpoint } from '../../../webhooks/endpoints.ts'

const callbackUrl = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Where events are sent to by POST: an https URL that can be reached from outside.',
  examples: ['https://hospital.example.org/webhooks'],
})
export const names = Object.keys(eventTypes) as EventType[]
const events = Type.Array(Type.String({ maxLength: 60 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Types of events, as GET /api/v1/connect/webhooks/event-types lists them.',
  examples: [['lab_result.released', 'consent.revoked']],
})
const description = Type.String({
  maxLength: 500,
  pattern: '^[^\\u0000]*$',
  description: 'What it is for, in your own words.',
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
        description: 'disabled: nothing new is sent, and what was to be sent waits; active: it goes on.',
      }),
    ),
  },
  { $id: 'WebhookSubscriptionChange', additionalProperties: false, minProperties: 1 },
)

const subscription = {
  id: Type.String({ pattern: '^whs_', description: 'The subscription.' }),
  callback_url: callbackUrl,
  subscribed_events: events,
  description,
  status: Type.Enum(['active', 'failing', 'disabled'], {
    description: 'failing: the last attempts failed; disabled: nothing is sent.',
  }),
  disabled_reason: nullable(Type.String({ description: 'Why it is disabled; null if it is not.' })),
  payload_mode: Type.Enum(['thin', 'full'], {
    description: 'thin: ids and flags; full: the FHIR resource too, as an administrator has permitted.',
  }),
  created_at: moment('When it was made.'),
  updated_at: moment('When it was last changed.'),
  last_delivery_at: nullable(moment('When something was last delivered; null if nothing was yet.')),
  failure_count: Type.Integer({ minimum: 0, description: 'Attempts that failed since one succeeded.' }),
}

export const Subscription = Type.Object(subscription, { $id: 'WebhookSubscription' })

const webhook_secret = Type.String({
  pattern: '^whsec_',
  description: 'Signs what is sent. It is shown this once: keep it where the receiver finds it.',
})

export const CreatedSubscription = Type.Object(
  { ...subscription, webhook_secret: Type.Optional(webhook_secret) },
  {
    $id: 'CreatedWebhookSubscription',
    description: 'The subscription and its secret, which the reply that is kept for an Idempotency-Key lacks.',
  },
)

export const RotateRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'How long the former secret signs beside the new one; a day if left out, 0 ends it now.',
      }),
    ),
  },
  { $id: 'WebhookSecretRotation', additionalProperties: false },
)

export const RotatedSubscription = Type.Object(
  {
    ...subscription,
    webhook_secret: Type.Optional(webhook_secret),
    previous_secret_expires_at: moment('Until then everything is signed with both secrets.'),
  },
  { $id: 'RotatedWebhookSubscription' },
)

export const TestRequest = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(names, { description: 'Of the event; the first that is subscribed to if left out.' }),
    ),
  },
  { $id: 'WebhookTest', additionalProperties: false },
)

export const Deliveries = Type.Object(
  {
    event_id: Type.String({ pattern: '^evt_' }),
    deliveries: Type.Array(
      Type.Object({
        delivery_id: Type.String({ format: 'uuid', description: 'Of the delivery that has begun.' }),
        subscription_id: Type.String(),
        status: Type.Literal('pending'),
      }),
    ),
  },
  { $id: 'WebhookDeliveries', description: 'What will be delivered.' },
)

export const Attempt = Type.Object(
  {
    delivery_id: Type.String({ format: 'uuid', description: 'The attempts of one delivery share it.' }),
    event_id: Type.String({ pattern: '^evt_' }),
    event_type: nullable(Type.String({ description: 'Null if the event is too old to be kept.' })),
    attempt: Type.Integer({ minimum: 1, maximum: 7 }),
    outcome: Type.Enum(['delivered', 'failed', 'exhausted', 'withheld'], {
      description:
        'failed: it is tried again; exhausted: it is not; withheld: nothing was sent, since the client may not see any more what the event is about.',
    }),
    started_at: moment('When the attempt began.'),
    duration_ms: Type.Integer({ minimum: 0 }),
    http_status: nullable(Type.Integer({ description: 'Of the receiver; null if it did not answer.' })),
    error: nullable(Type.String({ description: 'Why it failed.', examples: ['no answer in 10 seconds'] })),
    response_excerpt: nullable(Type.String({ description: 'The beginning of the reply.' })),
    next_attempt_at: nullable(moment('When it is tried again; null if it is not.')),
  },
  { $id: 'WebhookAttempt' },
)

export const EventTypes = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        type: Type.Enum(names),
        description: Type.String(),
        schema: Type.Unknown({ description: 'JSON Schema (2020-12) of what is sent.' }),
        example: Type.Unknown({ description: 'Something that is sent.' }),
      }),
    ),
  },
  { $id: 'WebhookEventTypes', description: 'Every type of events.' },
)

/** A subscription as it is told. */
export const told = (endpoint: Endpoint) => ({
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
