// Subscribers as tests need them: a client with a receiver of its own, and the queue as its database holds it.
import { expect } from 'vitest'
import { createClient } from '../../src/identity/clients.ts'
import { type Answer, fhirCaller } from './fhir.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import type { Service } from './service.ts'

export const webhooks = '/api/v1/connect/webhooks'
export const subscriptions = `${webhooks}/subscriptions`

export interface Somebody {
  readonly clientId: string
  readonly token: string
  /** Calls with a JSON body. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** A client of an organisation, which consent filters unless it is exempt. */
export async function client(
  service: Service,
  organizationId: string,
  { scopes = ['webhooks:manage', 'system/*.cruds'], consentExempt = false } = {},
): Promise<Somebody> {
  const { database, identity } = service.application
  const made = await createClient(database, 'local', {
    name: 'Subscriber',
    organizationId,
    scopes,
    consentExempt,
    secret: null,
  })
  const clientId = made.client.id
  const token = await identity.tokens.mint({ clientId, organizationId, consentExempt }, scopes)
  const call = fhirCaller(() => service)
  return {
    ...{ clientId, token },
    call: (method, path, body, headers = {}) =>
      call(method, path, {
        body,
        token,
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      }),
  }
}

export interface Subscriber extends Somebody {
  readonly id: string
  readonly secret: string
  readonly receiver: Receiver
  /** The attempts so far, the oldest first. */
  attempts(): Promise<Answer['body'][]>
  /** Waits until there are so many attempts. */
  attempted(count: number): Promise<Answer['body'][]>
  read(): Promise<Answer['body']>
}

/** Somebody who is told of these types of events by a receiver of its own. */
export async function subscriber(who: Somebody, events: readonly string[]): Promise<Subscriber> {
  const receiver = await startReceiver()
  const { status, text, body } = await who.call('POST', subscriptions, {
    callback_url: receiver.url,
    subscribed_events: events,
  })
  expect(status, text).toBe(201)
  const path = `${subscriptions}/${body.id}`
  const attempts = async () => (await who.call('GET', `${path}/attempts?limit=100`)).body.data.toReversed()
  return {
    ...who,
    ...{ id: body.id, secret: body.webhook_secret, receiver, attempts },
    attempted: count => settled(`${count} attempts`, attempts, found => found.length >= count),
    read: async () => (await who.call('GET', path)).body,
  }
}

/** Asks until the answer is as it should be, at most thirty seconds. */
export async function settled<T>(what: string, ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  for (const end = performance.now() + 30_000; ; ) {
    const answer = await ask()
    if (isSo(answer)) return answer
    if (performance.now() > end) throw new Error(`waited thirty seconds in vain for ${what}: ${JSON.stringify(answer)}`)
    await new Promise(done => setTimeout(done, 10))
  }
}

/** Lets time pass for what waits in the queue, and has the service look. */
export async function later(service: Service, seconds: number): Promise<void> {
  await service.application.database.query({
    text: 'update webhook_delivery set due_at = due_at - make_interval(secs => $1) where lease is null',
    values: [seconds],
  })
  service.application.webhooks.wake()
}

/** Resolves when nothing is under way any more: the outbox is empty, and so is the queue but for what waits for a later attempt. */
export async function quiet(service: Service): Promise<void> {
  const ask = async () =>
    (
      await service.application.database.query<{ busy: number }>({
        text: `select (select count(*) from event_outbox)::int
          + (select count(*) from webhook_delivery d join webhook_endpoint p on p.key = d.endpoint and p.is_active
             where d.lease is not null or d.due_at <= clock_timestamp())::int as busy`,
        values: [],
      })
    )[0]!.busy
  await settled('the queue to be quiet', ask, busy => busy === 0)
}

/** The types of all events that the service has recorded, in order. */
export async function eventsOf(service: Service, since = ''): Promise<string[]> {
  await quiet(service)
  const rows = await service.application.database.query<{ event: string }>({
    text: `select event from event where event <> '' and id > $1 order by id`,
    values: [since],
  })
  return rows.map(({ event }) => event)
}

/** The types of the events that a request caused, in order; none if it caused none. */
export async function eventsOfRequest(service: Service, requestId: string): Promise<string[]> {
  await quiet(service)
  const rows = await service.application.database.query<{ event: string }>({
    text: `select event from event where event <> '' and request_id = $1 order by id`,
    values: [requestId],
  })
  return rows.map(({ event }) => event)
}
