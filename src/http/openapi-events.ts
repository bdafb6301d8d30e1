// What the service sends, in the description of the interface: an OpenAPI 3.1 webhook for each type of events (interface §6).
// https://spec.openapis.org/oas/v3.1.0#fixed-fields
import type { TSchema } from 'typebox'

type Json = Record<string, unknown>

/** A type of events as it is described. */
export interface DescribedEvent {
  readonly type: string
  readonly description: string
  /** Of the whole envelope. */
  readonly schema: TSchema
}

const header = (name: string, description: string, required = true): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

const headers = [
  header(
    'X-Service-Signature',
    '`t=<seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`; two v1 values while a secret is being rotated.',
  ),
  header('webhook-id', 'The event id, the same for every delivery attempt (Standard Webhooks).'),
  header('webhook-timestamp', 'Unix time in seconds (Standard Webhooks).'),
  header('webhook-signature', '`v1,<base64 HMAC-SHA256 of "<id>.<timestamp>.<raw body>">` (Standard Webhooks).'),
  header('X-Service-Replay', '`true` if the event is a replay.', false),
]

const responses: Json = {
  '2XX': { description: 'Delivered. Respond within 10 seconds; only the status counts.' },
  '410': { description: 'Gone. The subscription is disabled.' },
  '4XX': {
    description: 'Not delivered, for example 400 for an invalid signature. The event is attempted up to seven times.',
  },
}

/** The webhooks by type. @param published puts a schema among the components and refers to it */
export function webhooksOf(events: readonly DescribedEvent[], published: (schema: TSchema) => Json): Json {
  return Object.fromEntries(
    events.map(({ type, description, schema }) => [
      type,
      {
        post: {
          operationId: `on${type.replace(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`,
          summary: description,
          tags: ['Connect'],
          security: [],
          parameters: headers,
          requestBody: { required: true, content: { 'application/json': { schema: published(schema) } } },
          responses,
        },
      },
    ]),
  )
}
