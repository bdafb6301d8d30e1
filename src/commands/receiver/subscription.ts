// The subscription that the sample receiver makes for itself, and ends when it stops (interface §2.13).
import type { Settings } from './settings.ts'

export interface Subscription {
  readonly id: string
  readonly secret: string
  readonly events: readonly string[]
}

/** The service does not do what the receiver needs; its message says why in a sentence. */
export class ServiceError extends Error {}

/** Subscribes to the types that are asked for, or to all. @throws ServiceError */
export async function subscribe(settings: Settings, callbackUrl: string): Promise<Subscription> {
  const token = await tokenOf(settings)
  const events = settings.events ?? (await eventTypes(settings.service, token))
  const { id, webhook_secret } = await call<{ id: string; webhook_secret: string }>(settings.service, {
    path: subscriptions,
    method: 'POST',
    token,
    body: { callback_url: callbackUrl, subscribed_events: events, description: 'Sample receiver (npm run receiver)' },
  })
  return { id, secret: webhook_secret, events }
}

/** Ends it; a subscription that is gone already is as good. @throws ServiceError */
export async function unsubscribe(settings: Settings, id: string): Promise<void> {
  // The token of the beginning may have expired.
  const token = await tokenOf(settings)
  await call(settings.service, { path: `${subscriptions}/${id}`, method: 'DELETE', token, accepts: 404 })
}

const subscriptions = '/api/v1/connect/webhooks/subscriptions'

async function tokenOf({ service, clientId, clientSecret }: Settings): Promise<string> {
  const { access_token } = await call<{ access_token: string }>(service, {
    path: '/api/v1/connect/auth/token',
    method: 'POST',
    body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
  })
  return access_token
}

async function eventTypes(service: string, token: string): Promise<string[]> {
  const path = '/api/v1/connect/webhooks/event-types'
  const { data } = await call<{ data: { type: string }[] }>(service, { path, method: 'GET', token })
  return data.map(({ type }) => type)
}

interface Call {
  readonly path: string
  readonly method: string
  readonly token?: string
  readonly body?: object
  /** A status that is as good as a 2xx. */
  readonly accepts?: number
}

async function call<Reply>(service: string, { path, method, token, body, accepts }: Call): Promise<Reply> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  const request = { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000) }
  const reply = await fetch(service + path, request).catch(() => {
    throw new ServiceError(
      `The service does not respond at ${service}: start it with npm start, or specify its URL with --service.`,
    )
  })
  const content = await reply.json().catch(() => undefined)
  if (reply.ok || reply.status === accepts) return content as Reply
  const said = (content as { message?: string } | undefined)?.message ?? reply.statusText
  throw new ServiceError(`The service responded with ${reply.status} to ${method} ${path}: ${said}`)
}
