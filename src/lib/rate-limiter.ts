// A rate limiter by the generic cell rate algorithm: the whole limit may be used at once and comes back evenly, and what is kept of a
// key is one timestamp, its theoretical arrival time (https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm).

export interface RateLimiter {
  /** Milliseconds until one more is allowed; 0: now. */
  wait(key: string, now: number): number
  /** Counts so many, also beyond the limit; a negative number gives them back. */
  add(key: string, now: number, count?: number): void
  /** How many more are allowed now. */
  remaining(key: string, now: number): number
  /** Milliseconds until the whole limit is allowed again. */
  reset(key: string, now: number): number
}

/** Keys that are remembered: those that were counted last. */
const remembered = 50_000

/**
 * Creates a rate limiter of one process.
 * @param limit how many are allowed in a window
 * @param window in milliseconds
 */
export function createRateLimiter(limit: number, window = 60_000): RateLimiter {
  const interval = window / limit
  const arrivals = new Map<string, number>()
  const reset = (key: string, now: number): number => Math.max(0, (arrivals.get(key) ?? 0) - now)
  return {
    reset,
    wait: (key, now) => Math.max(0, reset(key, now) + interval - window),
    remaining: (key, now) => Math.floor((window - reset(key, now)) / interval),
    add(key, now, count = 1) {
      const used = Math.min(window, reset(key, now) + count * interval)
      // Put at the end again: what was counted longest ago comes first, and is forgotten first.
      arrivals.delete(key)
      if (used > 0) arrivals.set(key, now + used)
      if (arrivals.size > remembered) arrivals.delete(arrivals.keys().next().value!)
    },
  }
}
