// Indexes what was stored before a search parameter was defined, some resources at a time, while the service runs: any process can
// go on where another one stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import { createWakeable } from '../../lib/wakeable.ts'
import { channel } from '../epoch.ts'
import { catchUp } from './catch-up.ts'
import { createBatches, type IndexingParts } from './reindex-batch.ts'

/** How often a process looks for news and for work that another process may have left behind, in milliseconds. */
const lookEvery = 15_000

export interface Indexing {
  /** Has the indexer load search parameters that were defined in any process. */
  catchUp(): Promise<void>
  /** The same, and waits until what was stored before them is indexed, as long as a client may be kept waiting. */
  settle(): Promise<void>
  /** Follows definitions of all processes from now on. When it resolves, all existing definitions are loaded. */
  follow(): Promise<void>
  /** Begins to index in the background what others have left; for processes that listen already. */
  start(): void
  /** Stops the work under way. */
  close(): Promise<void>
}

/** Milliseconds that a client may wait, and that indexing waits for a writer that has locked the next resource. */
const patience = 1000
const pauseWhenLocked = 200

export function createIndexing(parts: IndexingParts): Indexing {
  const { database, indexer, log } = parts
  const stopping = new AbortController()
  const { signal } = stopping
  const batches = createBatches(parts, signal)
  let subscription: { close(): Promise<void> } | undefined
  /** Set once the service has started. */
  let timer: NodeJS.Timeout | undefined
  const logged = new Set<string>()
  const learn = async (): Promise<void> => {
    await catchUp(database, indexer)
    logSuspended(parts, logged)
  }
  const isWaiting = (): boolean =>
    !signal.aborted && indexer.params.own().some(param => !param.isReady && !param.suspended)
  const work = async (): Promise<void> => {
    await learn()
    while (isWaiting()) {
      const started = performance.now()
      const came = await batches.next()
      if (came === 'nothing') return learn()
      // Others come first: half of the time is theirs.
      const pause = came === 'locked' ? pauseWhenLocked : performance.now() - started
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
      if (came === 'outdated') await learn()
    }
  }
  const background = createWakeable(async () => {
    if (signal.aborted) return
    await work().catch(error => {
      if (!signal.aborted) log.warn({ err: error }, 'search parameters: could not continue indexing; will retry')
    })
  })
  const hear = (): void => {
    if (timer) void background.wake()
    else void learn().catch(error => log.warn({ err: error }, 'search parameters: could not read the definitions'))
  }
  return {
    catchUp: learn,
    async settle() {
      const until = performance.now() + patience
      await learn()
      while (isWaiting() && performance.now() < until) {
        // If another process is doing it, this call returns immediately.
        await Promise.race([background.wake(), sleep(until - performance.now(), undefined, { ref: false })])
        await sleep(10)
      }
    },
    async follow() {
      subscription = await database.listen(channel, hear)
      await learn()
    },
    start() {
      timer = setInterval(() => void background.wake(), lookEvery).unref()
      void background.wake()
    },
    async close() {
      stopping.abort(new Error('the process stops'))
      clearInterval(timer)
      await subscription?.close()
      await background.ended()
      await batches.release().catch(() => {})
    },
  }
}

/** Operators read once of each parameter that goes out of use; its reason holds nothing of a resource but its size. */
function logSuspended({ indexer, log }: IndexingParts, logged: Set<string>): void {
  const suspended = indexer.params.own().filter(param => param.suspended)
  const keys = new Set(suspended.map(({ key }) => key.name))
  for (const { of, code, id, client, key, suspended: why } of suspended)
    if (!logged.has(key.name))
      log.warn({ parameter: `${of}.${code}`, id, client, reason: why!.reason }, 'search parameters: suspended one')
  logged.clear()
  for (const key of keys) logged.add(key)
}
