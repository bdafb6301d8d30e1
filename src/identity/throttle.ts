// How many failed sign-ins are allowed: a rate limiter for each client at an address, and one for each address. A
// throttled caller receives 429 with Retry-After, never a statement that its credentials are wrong.
import { Failure } from '../lib/failure.ts'
import { createRateLimiter } from '../lib/rate-limiter.ts'

/** The attempts of one client from one address. */
export interface Attempts {
  /** Counts an attempt, as a rule before its outcome is known. @throws Failure AUTH_THROTTLED if there are none left. */
  take(): void
  /** Gives back an attempt that was not a failure. */
  giveBack(): void
  /** Counts a failure that has happened. */
  count(): void
}

/** @param who a client's id, or any other identity that the caller claims. */
export type Throttle = (who: string, address: string) => Attempts

/**
 * Runs an attempt that may fail (undefined). It is counted beforehand, so that many at once are counted, and given back
 * unless it fails.
 * @throws Failure AUTH_THROTTLED if there are no attempts left.
 */
export async function tried<T>(attempts: Attempts, work: () => Promise<T | undefined>): Promise<T | undefined> {
  attempts.take()
  let isFailure = false
  try {
    const result = await work()
    isFailure = result === undefined
    return result
  } finally {
    if (!isFailure) attempts.giveBack()
  }
}

/**
 * Ten failures at once and ten a minute for a client from an address; ten times that for an address whatever the client,
 * so that guessing at many ids is bounded too.
 * @param now milliseconds.
 */
export function createThrottle(now: () => number): Throttle {
  const ofClient = createRateLimiter(10)
  const ofAddress = createRateLimiter(100)
  return (clientId, address) => {
    const sender = senderOf(address)
    const counted = [
      { limiter: ofClient, who: `${sender} ${clientId.slice(0, 200)}` },
      { limiter: ofAddress, who: sender },
    ]
    const add = (count: 1 | -1) => counted.forEach(({ limiter, who }) => limiter.add(who, now(), count))
    const count = () => add(1)
    return {
      count,
      take() {
        const wait = Math.ceil(Math.max(...counted.map(({ limiter, who }) => limiter.wait(who, now()))) / 1000)
        if (wait > 0)
          throw new Failure('AUTH_THROTTLED', `Too many failed sign-in attempts. Retry after ${wait} s.`, {
            retryAfter: wait,
          })
        count()
      },
      giveBack: () => add(-1),
    }
  }
}

/** Returns the part of an address that counts as one sender: an IPv4 address, or the /64 network of an IPv6 address. */
export function senderOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!address.includes(':')) return address
  const [head, tail] = address.split('%', 1)[0]!.split('::') as [string, string?]
  const before = head.split(':').filter(Boolean)
  const after = tail?.split(':') ?? []
  const zeros = Math.max(0, 8 - before.length - after.length)
  return `${[...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':')}::/64`
}
