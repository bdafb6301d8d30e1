// The part of a process that notifies subscribers: it wakes when this process has written to the outbox, and polls
// every second for what other processes have left and for what has become due.

import type { Caller } from '../access/caller.ts'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import type { Kinds, Outbox } from '../events/outbox.ts'
import { kindsWaiting, retryStuck } from '../events/waiting.ts'
import type { Log } from '../lib/log.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Reach } from '../outbound/address.ts'
import { createSender } from '../outbound/send.ts'
import type { Store } from '../store/store.ts'
import { type CourierParts, createCourier } from './courier.ts'
import { dispatch } from './dispatch.ts'
import { setStatus, turnOffEnded } from './ended.ts'
import { createFollowers } from './followers.ts'
import type { GivenUp } from './health.ts'
import { prune } from './prune.ts'
import { createTargets } from './targets.ts'
import { createWorker, type Worker } from './worker.ts'

export interface WebhookParts extends Pick<CourierParts, 'disclose' | 'counted' | 'concurrency' | 'handOver'> {
  readonly database: Database
  readonly storeFor: (caller: Caller) => Store
  readonly outbox: Outbox
  readonly log: Log
  readonly encryptionKey: Buffer
  readonly environment: string
  readonly reach: Reach
  readonly userAgent: string
  readonly healthIds: (on: Queryable, patients: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** Days for which events and attempts are kept. */
  readonly historyDays: number
}

export interface Webhooks {
  /** Begins to deliver, and to delete what is too old. */
  start(): void
  /** Polls at once: there is something to deliver. */
  wake(): void
  close(): Promise<void>
}

/** Milliseconds between two polls, when nothing wakes it. */
const lookEvery = 1000
const turnOffEvery = 60_000
const pruneEvery = 3_600_000

/**
 * Milliseconds from one poll to the next under light load: events in between share a transaction. An event after a
 * pause is seen at once. `unheard`: of the outbox while nobody has subscribed to anything; a new subscriber's first event waits that long at most.
 */
const pace = { outbox: 25, unheard: 250, deliveries: 5 }

export function createWebhooks(parts: WebhookParts): Webhooks {
  const { database, log, outbox } = parts
  const givenUp = (endpoint: Pick<GivenUp, 'id' | 'reason'>) => reportGivenUp(parts, endpoint)
  const targets = createTargets(parts)
  const sender = createSender({ reach: parts.reach })
  // Later, and on a connection of its own: the caller is within a transaction.
  const refused = (endpoint: Pick<GivenUp, 'id' | 'reason'>) =>
    void givenUp(endpoint).catch(err => log.warn({ err }, 'webhooks: could not disable a subscription'))
  const followers = createFollowers({ ...parts, refused })
  const { finds, of: subscribed } = followers
  const courier = createCourier({ ...parts, sender, targets, givenUp, finds, wake: () => deliveries.wake() })
  const deliveries = createWorker({ work: courier.take, pace: () => pace.deliveries, log })
  // Separate workers, so that receivers of events do not wait for the criteria of FHIR subscriptions.
  const [events, changes] = (['events', 'changes'] as const).map(kind => {
    let hasSubscribers = true
    return createWorker({
      async work() {
        const done = await dispatch({ ...parts, subscribed }, kind)
        if (done.made > 0) deliveries.wake()
        hasSubscribers = done.hasSubscribers ?? hasSubscribers
        return done.isMore
      },
      pace: () => (hasSubscribers ? pace.outbox : pace.unheard),
      log,
    })
  }) as [Worker, Worker]
  const workers = [events, changes, deliveries]
  const wakeFor = (kinds: Kinds): void => {
    if (kinds.events) events.wake()
    if (kinds.changes) changes.wake()
  }
  // The outbox is empty most of the time, and one query says so.
  const looks = singleFlight(async () => {
    deliveries.wake()
    await kindsWaiting(database).then(wakeFor, err => log.warn({ err }, 'webhooks: could not read the outbox'))
  })
  let timers: NodeJS.Timeout[] = []
  return {
    wake: () => workers.forEach(worker => worker.wake()),
    start() {
      outbox.heard(wakeFor)
      void retryStuck(database).catch(err => log.warn({ err }, 'webhooks: could not retry undispatched events'))
      const tidy = () =>
        void prune(database, parts.historyDays).catch(err =>
          log.warn({ err }, 'webhooks: could not delete expired events'),
        )
      const turnOff = () =>
        void turnOffEnded(database, parts.storeFor).catch(err =>
          log.warn({ err }, 'webhooks: could not turn off the subscriptions that have ended'),
        )
      timers = [
        setInterval(looks.run, lookEvery).unref(),
        setInterval(turnOff, turnOffEvery).unref(),
        setInterval(tidy, pruneEvery).unref(),
      ]
      turnOff()
      void looks.run()
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      await looks.ended()
      await Promise.all(workers.map(worker => worker.close()))
      await courier.close()
    },
  }
}

/** Reports that an endpoint is given up: to operators in the log, and to the owner of a FHIR subscription in the resource. */
export async function reportGivenUp(
  { storeFor, log }: Pick<WebhookParts, 'storeFor' | 'log'>,
  { id, reason }: Pick<GivenUp, 'id' | 'reason'>,
): Promise<void> {
  log.warn({ subscription: id, reason }, 'webhooks: disabled a subscription')
  if (id.startsWith('Subscription/')) await setStatus(storeFor, id, { status: 'error', error: reason })
}
