// How many requests one client may send: the generic cell rate algorithm, one timestamp a client.
// The headers are those of the IETF draft "RateLimit header fields for HTTP", revision 10.
import { Failure } from '../lib/failure.ts'

export interface Verdict {
  /** Requests per minute that the policy allows. */
  readonly quota: number
  readonly remaining: number
  /** Seconds until the full quota is there again. */
  readonly reset: number
}

export interface Limits {
  /**
   * Counts one request.
   * @param who the client or address that sent it.
   * @throws Failure RATE_LIMITED with the seconds to wait.
   */
  take(who: string): Verdict
}

const remembered = 50_000

/**
 * @param quota requests per minute, which may all come at once.
 * @param now milliseconds.
 */
export function createLimits(quota: number, now: () => number = Date.now): Limits {
  const step = 60_000 / quota
  const arrivals = new Map<string, number>()
  return {
    take(who) {
      const time = now()
      const earliest = Math.max(arrivals.get(who) ?? time, time)
      const debt = earliest - time
      if (debt + step > 60_000) {
        const wait = Math.ceil((debt + step - 60_000) / 1000)
        throw new Failure('RATE_LIMITED', `More than ${quota} requests in a minute: wait ${wait} s.`, {
          retryAfter: wait,
          headers: verdictHeaders({ quota, remaining: 0, reset: wait }),
        })
      }
      if (arrivals.size >= remembered) forget(arrivals, time)
      arrivals.set(who, earliest + step)
      return { quota, remaining: Math.floor((60_000 - debt - step) / step), reset: Math.ceil((debt + step) / 1000) }
    },
  }
}

/** Drops whoever has its full quota again; if nobody has, everybody: memory stays bounded. */
function forget(arrivals: Map<string, number>, time: number): void {
  for (const [who, arrival] of arrivals) if (arrival <= time) arrivals.delete(who)
  if (arrivals.size >= remembered) arrivals.clear()
}

export function verdictHeaders(verdict: Verdict): Record<string, string> {
  return {
    'ratelimit-policy': `"default";q=${verdict.quota};w=60`,
    ratelimit: `"default";r=${verdict.remaining};t=${verdict.reset}`,
  }
}
