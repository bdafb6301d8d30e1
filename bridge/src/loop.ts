// Background work in steps: each says when the next one is due, and a bell brings it forward.
import type { Clock } from './clock.ts'
import { kindOf, type Log } from './log.ts'

export interface Loop {
  /** Has the next step taken now, or another one after the one under way. */
  wake(): void
  /** Takes no further step; resolves when the one under way ends. */
  stop(): Promise<void>
}

/** Milliseconds until the next step after one that failed in a way that it did not expect. */
const afterTrouble = 10_000

export function keepDoing(name: string, step: () => Promise<number>, clock: Clock, log: Log): Loop {
  let isStopped = false
  let isWoken = false
  let bell = new AbortController()
  const once = async (): Promise<void> => {
    const wait = await step().catch(error => {
      log.error('a step failed', { part: name, error: kindOf(error) })
      return afterTrouble
    })
    if (!isWoken && !isStopped) await clock.wait(wait, bell.signal)
    bell = new AbortController()
    isWoken = false
  }
  const ended = (async () => {
    while (!isStopped) await once()
  })()
  return {
    wake() {
      isWoken = true
      bell.abort()
    },
    async stop() {
      isStopped = true
      bell.abort()
      await ended
    },
  }
}
