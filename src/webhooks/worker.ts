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
  /** Milliseconds from one beginning to the next while there is little. */
  readonly pace: number
  readonly log: Log
  /** Milliseconds, from any time on. */
  readonly now?: () => number
  readonly sleep?: (milliseconds: number) => Promise<unknown>
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
  let isClosed = false
  const run = async (): Promise<void> => {
    try {
      do {
        isAwake = false
        const began = now()
        if (await work()) isAwake = true
        else await sleep(Math.max(0, pace - (now() - began)))
      } while (isAwake && !isClosed)
    } catch (err) {
      log.warn({ err }, 'webhooks: could not poll for deliveries')
    } finally {
      running = undefined
    }
  }
  return {
    wake() {
      isAwake = true
      if (!isClosed) running ??= run()
    },
    async close() {
      isClosed = true
      await running
    },
  }
}
