// GET /api/v1/connect/webhooks/event-types: everything that can be subscribed to (interface §6.1).
import { describedEvents, type EventType, eventTypes } from '../../../events/event-types.ts'
import { type Route, reply, route } from '../../../http/route.ts'
import { common, webhooks } from './common.ts'
import { EventTypes } from './shapes.ts'

export function eventTypesRoute(): Route {
  const data = describedEvents().map(({ type, description, schema }) => ({
    type,
    description,
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema },
    example: exampleOf(type),
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

const exampleOf = (type: EventType) => ({
  id: 'evt_019be6f0a7c57d4f8f0d3a4b5c6d7e8f',
  type,
  version: '1.0',
  created_at: '2026-03-14T09:30:00.000Z',
  data: eventTypes[type].example,
  meta: {
    organization_id: 'hopital-central',
    facility_id: 'hopital-central',
    environment: 'sandbox',
    request_id: '1f0c6b1e-6c1d-4a3f-9d53-0e8f5b7f2f10',
  },
})
