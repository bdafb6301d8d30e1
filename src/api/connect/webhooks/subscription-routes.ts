// The subscriptions of a client: make, list, read, change, end, and change the secret of (interface §2.13).

import { isEventType } from '../../../events/event-types.ts'
import { type Reply, type Route, reply, route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { didYouMean, nearest } from '../../../lib/nearest.ts'
import { listName, page, pageOf, pageQuery, wantedOf } from '../../../lib/paging.ts'
import { Type } from '../../../lib/schema.ts'
import { mustBeCallable } from '../../../outbound/address.ts'
import * as endpoints from '../../../webhooks/endpoints.ts'
import type { ConnectParts } from '../parts.ts'
import { common, subscriptionParam, subscriptions } from './common.ts'
import * as shapes from './shapes.ts'

export const subscriptionRoutes = (parts: ConnectParts): Route[] => [
  createRoute(parts),
  listRoute(parts),
  readRoute(parts),
  changeRoute(parts),
  removeRoute(parts),
  rotateRoute(parts),
]

const one = `${subscriptions}/{subscription_id}`
const small = { maxBodyBytes: 32_768 }

function createRoute(parts: ConnectParts): Route {
  return route({
    ...{ ...common, ...small },
    method: 'POST',
    path: subscriptions,
    operationId: 'createWebhookSubscription',
    summary: 'Create a webhook subscription',
    description:
      'Events arrive as signed POST requests. A client receives only events about data it may read: patients with a consent in force, and resources it wrote itself. The signing secret appears only in this reply.',
    body: shapes.SubscriptionWish,
    replies: { 201: shapes.CreatedSubscription },
    async handle({ body, caller }) {
      const wish = {
        url: mustBeCallable(body.callback_url, parts.reach, 'callback_url'),
        events: knownEvents(body.subscribed_events),
        description: body.description ?? '',
      }
      const { endpoint, secret } = await parts
        .databaseFor(caller)
        .transaction(on => endpoints.createEndpoint(on, parts.encryptionKey, caller, wish))
      return withSecret(201, shapes.shownEndpoint(endpoint), secret)
    },
  })
}

/** The reply kept for an Idempotency-Key is without the secret, which is returned only once. */
const withSecret = (status: number, shown: object, secret: string): Reply => ({
  ...reply(status, { ...shown, webhook_secret: secret }),
  kept: JSON.stringify(shown),
})

/** @throws Failure VALIDATION_FAILED naming every type that does not exist. */
function knownEvents(names: readonly string[]): string[] {
  const details = names.flatMap((name, index) => {
    if (isEventType(name)) return []
    const meant = didYouMean(nearest(name, shapes.names), '.')
    const message = `is ${JSON.stringify(name)}, which is not an event type${meant}`
    return [{ field: `subscribed_events[${index}]`, code: 'value', message }]
  })
  const [first] = details
  if (!first) return [...new Set(names)]
  throw new Failure('VALIDATION_FAILED', `${first.field} ${first.message} There are ${shapes.names.join(', ')}.`, {
    details,
  })
}

function listRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'GET',
    path: subscriptions,
    operationId: 'listWebhookSubscriptions',
    summary: 'List webhook subscriptions, oldest first',
    query: Type.Object(pageQuery, { additionalProperties: false }),
    replies: { 200: pageOf(shapes.Subscription, 'WebhookSubscriptions', 'A page of subscriptions of the client.') },
    async handle({ query, caller }) {
      const list = listName('webhooks', { ...query, client: caller.clientId })
      const wanted = wantedOf(parts.cursors, list, query)
      const after = Number(wanted.after?.[0] ?? 0)
      const rows = await endpoints.listEndpoints(parts.databaseFor(caller), caller.clientId, after, wanted.limit + 1)
      return reply(
        200,
        page(parts.cursors, list, wanted, rows, { position: ({ key }) => [String(key)], item: shapes.shownEndpoint }),
      )
    },
  })
}

function readRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'GET',
    path: one,
    operationId: 'readWebhookSubscription',
    summary: 'Get a webhook subscription',
    params: subscriptionParam,
    replies: { 200: shapes.Subscription },
    async handle({ params, caller }) {
      return reply(
        200,
        shapes.shownEndpoint(
          await endpoints.findEndpoint(parts.databaseFor(caller), params.subscription_id, caller.clientId),
        ),
      )
    },
  })
}

function changeRoute(parts: ConnectParts): Route {
  return route({
    ...{ ...common, ...small },
    method: 'PATCH',
    path: one,
    operationId: 'changeWebhookSubscription',
    summary: 'Update a webhook subscription; omitted fields are unchanged',
    params: subscriptionParam,
    body: shapes.SubscriptionChange,
    replies: { 200: shapes.Subscription },
    async handle({ params, body, caller }) {
      const change = {
        url: body.callback_url && mustBeCallable(body.callback_url, parts.reach, 'callback_url'),
        events: body.subscribed_events && knownEvents(body.subscribed_events),
        description: body.description,
        isActive: body.status && body.status === 'active',
      }
      const changed = await endpoints.changeEndpoint(
        parts.databaseFor(caller),
        params.subscription_id,
        caller.clientId,
        change,
      )
      parts.wakeWebhooks()
      return reply(200, shapes.shownEndpoint(changed))
    },
  })
}

function removeRoute(parts: ConnectParts): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: one,
    operationId: 'deleteWebhookSubscription',
    summary: 'Delete a webhook subscription and its pending deliveries',
    params: subscriptionParam,
    replies: { 204: null },
    async handle({ params, caller }) {
      await endpoints.removeEndpoint(parts.databaseFor(caller), params.subscription_id, caller.clientId)
      return reply(204)
    },
  })
}

const day = 86_400

function rotateRoute(parts: ConnectParts): Route {
  return route({
    ...{ ...common, ...small },
    method: 'POST',
    path: `${one}/rotate-secret`,
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the signing secret of a webhook subscription',
    description: 'Returns the new secret. Until previous_secret_expires_at, events are signed with both secrets.',
    params: subscriptionParam,
    body: shapes.RotateRequest,
    bodyOptional: true,
    replies: { 200: shapes.RotatedSubscription },
    async handle({ params, body, caller }) {
      const terms = { overlap: body?.overlap_seconds ?? day, now: parts.now().getTime() }
      const { endpoint, secret, until } = await parts
        .databaseFor(caller)
        .transaction(on =>
          endpoints.rotateEndpoint(on, parts.encryptionKey, params.subscription_id, caller.clientId, terms),
        )
      return withSecret(
        200,
        { ...shapes.shownEndpoint(endpoint), previous_secret_expires_at: until.toISOString() },
        secret,
      )
    },
  })
}
