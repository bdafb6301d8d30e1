// A bounded resource that clients share: connections, threads, bytes in flight. One client never takes all of it.
import { Failure } from './failure.ts'

/** What a client holds until it gives it back. */
export interface Share {
  /** Gives back what was taken; a second call changes nothing. */
  release(): void
}

export interface Shares {
  /**
   * Takes an amount for a client. Waits while the client holds its share or the resource is used up; clients that wait
   * take turns, so the queue of one never delays another by more than one turn.
   * @param who the client that pays.
   * @param amount in units of the resource; never more than the share of one client.
   * @param signal ends the wait.
   * @throws Failure RATE_LIMITED if too many requests of the client wait, UNAVAILABLE if too many wait in all or the wait
   *   took too long; the reason of `signal`.
   */
  take(who: string, amount?: number, signal?: AbortSignal): Promise<Share>
  /** Units that are taken now. */
  used(): number
  /** Requests that wait now. */
  waiting(): number
}

export interface SharesOptions {
  /** What is shared, as an error names it: `database connections`. */
  readonly name: string
  /** Units there are. */
  readonly total: number
  /** Units that one client may hold at a time, at most `total`. */
  readonly perClient: number
  /** Requests of one client that may wait. */
  readonly waitingPerClient: number
  /** Requests that may wait in all. */
  readonly waiting: number
  /** Milliseconds that a request may wait. */
  readonly patience: number
}

interface Waiter {
  readonly amount: number
  readonly begin: () => void
}

/** Max-min fair shares: turns go round by client, and what a client takes is bounded beside them. */
export function createShares(options: SharesOptions): Shares {
  const { name, total, perClient, patience } = options
  const held = new Map<string, number>()
  // In the order of turns: a client that had one goes to the end.
  const queues = new Map<string, Waiter[]>()
  let used = 0
  let waiting = 0

  const isWithinShare = (who: string, amount: number): boolean => (held.get(who) ?? 0) + amount <= perClient
  const fits = (who: string, amount: number): boolean => used + amount <= total && isWithinShare(who, amount)
  /** Whether a request waits for the resource itself, not for the share of its client: nobody overtakes it. */
  const isScarce = (): boolean => [...queues].some(([who, [first]]) => isWithinShare(who, first!.amount))
  const hold = (who: string, amount: number): Share => {
    used += amount
    held.set(who, (held.get(who) ?? 0) + amount)
    let isHeld = true
    return {
      release() {
        if (!isHeld) return
        isHeld = false
        used -= amount
        const left = held.get(who)! - amount
        if (left > 0) held.set(who, left)
        else held.delete(who)
        serve()
      },
    }
  }
  const leave = (who: string, waiter: Waiter): void => {
    const queue = queues.get(who) ?? []
    const place = queue.indexOf(waiter)
    if (place < 0) return
    queue.splice(place, 1)
    waiting--
    if (queue.length === 0) queues.delete(who)
  }
  const serve = (): void => {
    while (waiting > 0 && serveRound()) {}
  }
  /** One turn for each client that waits. @returns true if somebody had one. */
  const serveRound = (): boolean => {
    let begun = false
    for (const [who, queue] of [...queues]) {
      const first = queue[0]!
      if (!fits(who, first.amount)) {
        // A large amount keeps its place at the head: small ones of others would overtake it for ever.
        if (isWithinShare(who, first.amount)) return false
        continue
      }
      leave(who, first)
      if (queue.length > 0) {
        queues.delete(who)
        queues.set(who, queue)
      }
      first.begin()
      begun = true
    }
    return begun
  }
  const wait = (who: string, amount: number, signal: AbortSignal | undefined): Promise<Share> =>
    new Promise((done, fail) => {
      const settle = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        leave(who, waiter)
      }
      const waiter: Waiter = {
        amount,
        begin() {
          const share = hold(who, amount)
          settle()
          done(share)
        },
      }
      const abort = (): void => {
        settle()
        fail(signal!.reason)
        serve()
      }
      const timer = setTimeout(() => {
        settle()
        fail(busy(`No ${name} became free within ${patience / 1000} s`))
        serve()
      }, patience)
      signal?.addEventListener('abort', abort)
      const queue = queues.get(who)
      if (queue) queue.push(waiter)
      else queues.set(who, [waiter])
      waiting++
    })
  const takeNow = (who: string, amount = 1): Share | undefined =>
    !queues.has(who) && fits(who, amount) && (waiting === 0 || !isScarce()) ? hold(who, amount) : undefined
  return {
    async take(who, amount = 1, signal) {
      signal?.throwIfAborted()
      if (amount > perClient) throw new RangeError(`${amount} ${name} exceed the limit of one client (${perClient})`)
      const share = takeNow(who, amount)
      if (share) return share
      if ((queues.get(who)?.length ?? 0) >= options.waitingPerClient)
        throw new Failure(
          'RATE_LIMITED',
          `This client has reached its limit of ${name}, and ${options.waitingPerClient} more of its requests are waiting: send fewer requests at a time.`,
          { retryAfter: 1 },
        )
      if (waiting >= options.waiting) throw busy(`Too many requests are waiting for ${name}`)
      return wait(who, amount, signal)
    },
    used: () => used,
    waiting: () => waiting,
  }
}

const busy = (what: string): Failure => new Failure('UNAVAILABLE', `${what}: try again.`, { retryAfter: 1 })
