// How long to wait after a failure: twice as long each time, up to a bound, with jitter so that agents do not return together.
import type { Clock } from '../clock.ts'

export interface Backoff {
  /** Milliseconds to wait after one more failure. */
  next(): number
  reset(): void
  failures(): number
}

export function createBackoff(clock: Clock, first = 1000, most = 300_000): Backoff {
  let failures = 0
  return {
    next() {
      const bound = Math.min(most, first * 2 ** Math.min(failures, 20))
      failures++
      return Math.round(bound / 2 + (bound / 2) * clock.random())
    },
    reset: () => void (failures = 0),
    failures: () => failures,
  }
}
