// GET /api/v1/connect/webhooks/event-types: everything that can be subscribed to (interface §6.1).
import { describedEvents, exampleEvent } from '../../../events/event-types.ts'
import { type Route, reply, route } from '../../../http/route.ts'
import { common, webhooks } from './common.ts'
import { EventTypes } from './shapes.ts'

export function eventTypesRoute(): Route {
  const data = describedEvents().map(({ type, description, schema }) => ({
    type,
    description,
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema },
    example: exampleEvent(type),
  }))
  return route({
    ...common,
    method: 'GET',
    path: `${webhooks}/event-types`,
    operationId: 'listWebhookEventTypes',
    summary: 'List event types with their JSON Schemas and examples',
    replies: { 200: EventTypes },
    handle: () => reply(200, { data }),
  })
}
