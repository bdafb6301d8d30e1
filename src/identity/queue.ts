// A bounded queue in front of work that fills a core: so many at a time, so many waiting, and the rest is told to come back.
import { Failure } from '../lib/failure.ts'

export interface Queue {
  /** Runs the work when it is its turn. @throws Failure UNAVAILABLE if too much is waiting already. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/**
 * @param width how much runs at a time.
 * @param depth how much may wait.
 */
export function createQueue(width: number, depth: number): Queue {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    async run(work) {
      if (running < width) running++
      else if (waiting.length < depth) await new Promise<void>(turn => waiting.push(turn))
      else throw new Failure('UNAVAILABLE', 'Too many clients are signing in: try again.', { retryAfter: 1 })
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  }
}
