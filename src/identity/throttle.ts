// How many failed sign-ins are allowed: the generic cell rate algorithm, one timestamp for each who.
// A throttled caller is told so (429 with Retry-After), never that its credentials are wrong.
import { Failure } from '../lib/failure.ts'

/** The attempts of one client from one address. */
export interface Attempts {
  /** Counts an attempt, as a rule before its outcome is known. @throws Failure AUTH_THROTTLED if there are none left. */
  take(): void
  /** Gives an attempt back that turned out not to be a failure. */
  giveBack(): void
  /** Counts a failure that has happened. */
  count(): void
}

/** @param who a client's id, or whatever else somebody claims to be. */
export type Throttle = (who: string, address: string) => Attempts

/**
 * Does what may turn out to be a failed attempt (undefined), and counts it then; beforehand, so that many at once are counted.
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
  const ofClient = createBudget(10, 10, now)
  const ofAddress = createBudget(100, 100, now)
  return (clientId, address) => {
    const sender = senderOf(address)
    const budgets = [
      { budget: ofClient, who: `${sender} ${clientId.slice(0, 200)}` },
      { budget: ofAddress, who: sender },
    ]
    const count = () => budgets.forEach(({ budget, who }) => budget.add(who, 1))
    return {
      count,
      take() {
        const wait = Math.max(...budgets.map(({ budget, who }) => budget.wait(who)))
        if (wait > 0)
          throw new Failure('AUTH_THROTTLED', `Too many failed sign-in attempts. Retry after ${wait} s.`, {
            retryAfter: wait,
          })
        count()
      },
      giveBack: () => budgets.forEach(({ budget, who }) => budget.add(who, -1)),
    }
  }
}

interface Budget {
  /** Seconds until there is an attempt again; 0 or less: there is one. */
  wait(who: string): number
  add(who: string, attempts: 1 | -1): void
}

const remembered = 50_000

function createBudget(burst: number, perMinute: number, now: () => number): Budget {
  const step = 60_000 / perMinute
  const span = step * burst
  const arrivals = new Map<string, number>()
  const debtOf = (who: string) => Math.max(0, (arrivals.get(who) ?? 0) - now())
  return {
    wait: who => Math.ceil((debtOf(who) + step - span) / 1000),
    add(who, attempts) {
      const debt = Math.min(span, debtOf(who) + attempts * step)
      arrivals.delete(who)
      if (debt > 0) arrivals.set(who, now() + debt)
      if (arrivals.size > remembered) arrivals.delete(arrivals.keys().next().value!)
    },
  }
}

/** What of an address counts as one sender: an IPv4 address, or the /64 network of an IPv6 address. */
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
