// client.webhooks
import type {
  CreatedWebhookSubscription,
  RotatedWebhookSubscription,
  WebhookAttempts,
  WebhookDeliveries,
  WebhookEvent,
  WebhookEventTypes,
  WebhookReplay,
  WebhookReplayRequest,
  WebhookSecretRotation,
  WebhookSubscription,
  WebhookSubscriptionChange,
  WebhookSubscriptions,
  WebhooksAttemptsParams,
  WebhooksListParams,
  WebhooksReplayMissedParams,
  WebhookTest,
} from '../generated/types.ts'
import type { CallOptions } from '../options.ts'
import { entriesOf } from '../pages.ts'
import { at } from '../request.ts'
import type { Sender } from '../sender.ts'
import { parseEvent, signTestPayload, verifySignature } from '../webhooks.ts'

/** Webhook subscriptions, and the verification of what they deliver. */
export class Webhooks {
  readonly #sender: Sender

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Subscribes to events. Keep `webhook_secret` of the reply: it is shown only once. */
  async subscribe(
    callbackUrl: string,
    events: readonly WebhookEvent['type'][],
    description?: string,
    options?: CallOptions,
  ): Promise<CreatedWebhookSubscription> {
    const body = { callback_url: callbackUrl, subscribed_events: events, description }
    return this.#sender.send({ method: 'POST', place: at(subscriptions, {}), body, options })
  }

  /** Lists the subscriptions of this client: one page. */
  async list(params?: WebhooksListParams, options?: CallOptions): Promise<WebhookSubscriptions> {
    return this.#sender.send({ method: 'GET', place: at(subscriptions, {}), query: { ...params }, options })
  }

  /** Yields all subscriptions of this client. */
  listAll(
    params: WebhooksListParams = {},
    options?: CallOptions,
  ): AsyncGenerator<WebhookSubscription, void, undefined> {
    const fetchPage = (cursor?: string) => this.list({ ...params, ...(cursor ? { cursor } : {}) }, options)
    return entriesOf(fetchPage, page => page.data, params.cursor)
  }

  /** Gets a subscription. */
  async get(subscriptionId: string, options?: CallOptions): Promise<WebhookSubscription> {
    return this.#sender.send({ method: 'GET', place: one(subscriptionId), options })
  }

  /** Changes a subscription: address, events, description, status. */
  async update(
    subscriptionId: string,
    change: WebhookSubscriptionChange,
    options?: CallOptions,
  ): Promise<WebhookSubscription> {
    return this.#sender.send({ method: 'PATCH', place: one(subscriptionId), body: change, options })
  }

  /** Ends a subscription. */
  async unsubscribe(subscriptionId: string, options?: CallOptions): Promise<void> {
    await this.#sender.send({ method: 'DELETE', place: one(subscriptionId), options })
  }

  /** Makes a new secret. The previous one stays valid for a day, or as long as `overlap_seconds` says. */
  async rotateSecret(
    subscriptionId: string,
    rotation?: WebhookSecretRotation,
    options?: CallOptions,
  ): Promise<RotatedWebhookSubscription> {
    return this.#sender.send({ method: 'POST', place: one(subscriptionId, '/rotate-secret'), body: rotation, options })
  }

  /** Sends a test event to the subscription's address. */
  async test(subscriptionId: string, test?: WebhookTest, options?: CallOptions): Promise<WebhookDeliveries> {
    return this.#sender.send({ method: 'POST', place: one(subscriptionId, '/test'), body: test, options })
  }

  /** Lists the attempts to deliver: one page, newest first. */
  async attempts(
    subscriptionId: string,
    params: WebhooksAttemptsParams = {},
    options?: CallOptions,
  ): Promise<WebhookAttempts> {
    const { eventId, ...others } = params
    const query = { event_id: eventId, ...others }
    return this.#sender.send({ method: 'GET', place: one(subscriptionId, '/attempts'), query, options })
  }

  /** Sends an event again to the subscriptions of this client. */
  async replay(eventId: string, options?: CallOptions): Promise<WebhookDeliveries> {
    const place = at('/api/v1/connect/webhooks/events/{event_id}/replay', { event_id: eventId })
    return this.#sender.send({ method: 'POST', place, options })
  }

  /** Sends the events of a time span that did not arrive. While `has_more` is true, call again with `next_cursor` as the cursor. */
  async replayMissed(
    subscriptionId: string,
    request: WebhookReplayRequest,
    params?: WebhooksReplayMissedParams,
    options?: CallOptions,
  ): Promise<WebhookReplay> {
    const call = { place: one(subscriptionId, '/replay'), query: { ...params }, body: request }
    return this.#sender.send({ method: 'POST', ...call, options })
  }

  /** Lists the types of events. */
  async eventTypes(options?: CallOptions): Promise<WebhookEventTypes> {
    return this.#sender.send({ method: 'GET', place: at('/api/v1/connect/webhooks/event-types', {}), options })
  }

  /** Verifies that a webhook comes from the service and is recent: see `health-interop/webhooks`, which needs no client. */
  readonly verifySignature = verifySignature

  /** Verifies a webhook, then returns its event: see `health-interop/webhooks`, which needs no client. */
  readonly parseEvent = parseEvent

  /** Signs a payload as the service does, for tests of your receiver. */
  readonly signTestPayload = signTestPayload
}

const subscriptions = '/api/v1/connect/webhooks/subscriptions'

const one = (subscriptionId: string, action = '') =>
  at(`${subscriptions}/{subscription_id}${action}`, { subscription_id: subscriptionId })
