// How many requests one client may send: a rate limiter for each policy.
// The headers are those of the IETF draft "RateLimit header fields for HTTP", revision 10.
import type { Config } from '../lib/config.ts'
import { Failure } from '../lib/failure.ts'
import { createRateLimiter } from '../lib/rate-limiter.ts'

/** The policy that counts every request, and those that count the requests of a class beside it. */
export type Policy = 'default' | Limit

/** A class of routes with stricter limits: looking people up, and fetching tokens. */
export type Limit = 'lookup' | 'token'

/** Requests a minute, by policy. */
export type Quotas = Readonly<Record<Policy, number>>

/** The quotas of the settings. */
export const quotasOf = ({ rateLimit, rateLimitLookup, rateLimitToken }: Config): Quotas => ({
  default: rateLimit,
  lookup: rateLimitLookup,
  token: rateLimitToken,
})

/** Returns the same quota for all policies, for servers without limits. */
export const sameQuotas = (quota: number): Quotas => ({ default: quota, lookup: quota, token: quota })

/** What a client has left of one policy. */
export interface RateLimitState {
  readonly policy: Policy
  /** Requests per minute that the policy allows. */
  readonly quota: number
  readonly remaining: number
  /** Seconds until the full quota is there again; with none left, until there is one. */
  readonly reset: number
}

export interface Limits {
  /**
   * Counts one request, by the default policy and by that of its class. A refused one counts for neither.
   * @param who the client or address that sent it.
   * @throws Failure RATE_LIMITED with the seconds to wait.
   */
  take(who: string, limit?: Limit): readonly RateLimitState[]
  /** Returns what one has left of each policy in this process, and counts nothing. */
  look(who: string): readonly RateLimitState[]
}

const words: Readonly<Record<Policy, string>> = {
  default: 'requests',
  lookup: 'patient lookups',
  token: 'token requests',
}

/**
 * @param quotas which may all come at once.
 * @param now milliseconds.
 */
export function createLimits(quotas: Quotas, now: () => number = Date.now): Limits {
  const counters: Readonly<Record<Policy, Counter>> = {
    default: createCounter('default', quotas.default),
    lookup: createCounter('lookup', quotas.lookup),
    token: createCounter('token', quotas.token),
  }
  return {
    take(who, limit) {
      const time = now()
      const asked = limit ? [counters.default, counters[limit]] : [counters.default]
      const waits = asked.map(counter => counter.wait(who, time))
      const longest = Math.max(...waits)
      if (longest > 0) {
        const { policy, quota } = asked[waits.indexOf(longest)]!.look(who, time)
        throw new Failure(
          'RATE_LIMITED',
          `Rate limit exceeded: more than ${quota} ${words[policy]} in a minute. Retry after ${longest} s.`,
          {
            retryAfter: longest,
            headers: verdictHeaders(asked.map(counter => counter.look(who, time))),
          },
        )
      }
      for (const counter of asked) counter.add(who, time)
      return asked.map(counter => counter.look(who, time))
    },
    look: who => Object.values(counters).map(counter => counter.look(who, now())),
  }
}

/** One policy: the requests of each caller. */
interface Counter {
  /** Seconds until one more is allowed; 0: now. */
  wait(who: string, time: number): number
  add(who: string, time: number): void
  look(who: string, time: number): RateLimitState
}

function createCounter(policy: Policy, quota: number): Counter {
  const limiter = createRateLimiter(quota)
  return {
    wait: (who, time) => Math.ceil(limiter.wait(who, time) / 1000),
    add: limiter.add,
    look(who, time) {
      const remaining = limiter.remaining(who, time)
      // Retry-After must not be earlier than what this header states.
      const reset = remaining > 0 ? limiter.reset(who, time) : limiter.wait(who, time)
      return { policy, quota, remaining, reset: Math.ceil(reset / 1000) }
    },
  }
}

/** Returns the headers of the policies in their order, and what is left of each, the scarcest first. */
export function verdictHeaders(verdicts: readonly RateLimitState[]): Record<string, string> {
  const scarcest = verdicts.toSorted((one, other) => one.remaining - other.remaining)
  return {
    'ratelimit-policy': verdicts.map(({ policy, quota }) => `"${policy}";q=${quota};w=60`).join(', '),
    ratelimit: scarcest.map(({ policy, remaining, reset }) => `"${policy}";r=${remaining};t=${reset}`).join(', '),
  }
}
