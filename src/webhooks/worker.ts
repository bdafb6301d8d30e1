// Background work that runs when it is woken, one run at a time.
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'

export interface Worker {
  wake(): void
  /** Resolves when the work under way has ended; no more is begun. */
  close(): Promise<void>
}

export interface WorkerOptions {
  /** @returns whether there is more to be done at once */
  readonly work: () => Promise<boolean>
  /** Milliseconds from one beginning to the next while there is little; asked for after each run. */
  readonly pace: () => number
  readonly log: Log
  /** Milliseconds, from any time on. */
  readonly now?: () => number
  readonly sleep?: (
    milliseconds: number,
    value: undefined,
    options: { readonly signal: AbortSignal },
  ) => Promise<unknown>
}

/** Creates a worker. It repeats the work while the work reports more, and once more, at its pace, if it was woken meanwhile. */
export function createWorker({
  work,
  pace,
  log,
  now = () => performance.now(),
  sleep = setTimeout,
}: WorkerOptions): Worker {
  let running: Promise<void> | undefined
  let isAwake: boolean | undefined
  const closing = new AbortController()
  const { signal } = closing
  const rest = (milliseconds: number): Promise<unknown> => sleep(milliseconds, undefined, { signal }).catch(() => {})
  const run = async (): Promise<void> => {
    try {
      do {
        isAwake = false
        const began = now()
        if (await work()) isAwake = true
        else await rest(Math.max(0, pace() - (now() - began)))
      } while (isAwake && !signal.aborted)
    } catch (err) {
      log.warn({ err }, 'webhooks: could not poll for deliveries')
    } finally {
      running = undefined
    }
  }
  return {
    wake() {
      isAwake = true
      if (!signal.aborted) running ??= run()
    },
    async close() {
      closing.abort()
      await running
    },
  }
}
