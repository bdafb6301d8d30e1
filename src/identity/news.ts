// Changes of identity reach every process within milliseconds: NOTIFY in the transaction of the change. If the channel
// is silent without ending, a query of the tables every few seconds finds what was missed.
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import type { Log } from '../lib/log.ts'

const channel = 'identity'
const lookEvery = 15_000
const trustFor = 60_000

export type News =
  | { readonly kind: 'token'; readonly jti: string; readonly expires: number }
  | { readonly kind: 'client'; readonly id: string }
  | { readonly kind: 'keys' }

/** Notifies every process, once the transaction commits. */
export async function publish(on: Queryable, news: News): Promise<void> {
  await on.query({ text: 'select pg_notify($1, $2)', values: [channel, JSON.stringify(news)] })
}

export interface Listener {
  /** Called with one change. */
  hear(news: News): void | Promise<void>
  /** Reads everything that may have been missed: all of it, or the changes of the last minutes. */
  catchUp(all: boolean): Promise<void>
}

export interface Following {
  /** Returns false when neither channel nor tables could be reached for a minute, so that a revocation may be unknown here. */
  isCurrent(): boolean
  close(): Promise<void>
}

/**
 * Follows the changes; when it resolves, `catchUp(true)` has been done.
 * @param elapsed milliseconds of a monotonic clock.
 */
export async function follow(
  database: Database,
  listener: Listener,
  log: Log,
  elapsed: () => number = () => performance.now(),
): Promise<Following> {
  let lastHeard = elapsed()
  let missed = false
  const heard = () => (lastHeard = elapsed())
  const catchUp = async (all: boolean) => {
    const asked = elapsed()
    await listener.catchUp(all)
    missed = false
    lastHeard = asked
  }
  const later = (error: unknown) => {
    missed = true
    log.warn({ err: error }, 'identity: could not poll for changes')
  }
  const subscription = await database.listen(channel, payload => {
    if (payload === undefined) return void catchUp(true).catch(later)
    heard()
    Promise.resolve(listener.hear(JSON.parse(payload) as News)).catch(later)
  })
  const timer = setInterval(() => void catchUp(missed).catch(later), lookEvery).unref()
  await catchUp(true)
  return {
    isCurrent: () => elapsed() - lastHeard < trustFor,
    async close() {
      clearInterval(timer)
      await subscription.close()
    },
  }
}
