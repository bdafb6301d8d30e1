// A concurrency limit: how much of something may be in use at a time (connections, threads, searches, bytes in flight), in total
// and per client, so that one client never takes all of it. The rest waits in a queue, which is bounded, too.
import { Failure } from './failure.ts'

/** An amount that is held until it is released. */
export interface Permit {
  /** Releases the amount; a second call changes nothing. */
  readonly release: () => void
}

export interface ConcurrencyLimit {
  /**
   * Takes an amount for a client. Waits while the client holds its share or the total is used up; clients that wait
   * take turns, so the queue of one never delays another by more than one turn.
   * @param who the client that pays; without one, all are the same client.
   * @param amount in units of the total; never more than the share of one client.
   * @param signal ends the wait.
   * @throws Failure RATE_LIMITED if too many requests of the client wait, UNAVAILABLE if too many wait in all or the wait
   *   took too long; the reason of `signal`.
   */
  take(who?: string, amount?: number, signal?: AbortSignal): Promise<Permit>
  /** Does the work while it holds one unit. @throws Failure as `take` does; what the work throws. */
  run<T>(work: () => Promise<T>, who?: string): Promise<T>
  /** Units that are taken now. */
  used(): number
  /** Requests that wait now. */
  waiting(): number
}

export interface ConcurrencyOptions {
  /** What is limited, as an error names it: `database connections`. */
  readonly name: string
  /** Units in total. */
  readonly total: number
  /** Units that one client may hold at a time, at most `total`; absent: all. */
  readonly perClient?: number
  /** Requests of one client that may wait; absent: any number. */
  readonly waitingPerClient?: number
  /** Requests that may wait in all; absent: any number. */
  readonly waiting?: number
  /** Milliseconds that a request may wait; absent: as long as it takes. */
  readonly patience?: number
}

/** Creates a limit with max-min fair shares: clients take turns, and each client has an upper bound. */
export function createConcurrencyLimit(options: ConcurrencyOptions): ConcurrencyLimit {
  const { name, total, perClient = total, waitingPerClient = Infinity } = options
  const held = createHoldings(total, perClient)
  const turns = createTurns(held)
  const hold = (who: string, amount: number): Permit => {
    held.add(who, amount)
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      held.add(who, -amount)
      turns.serve()
    }
    return { release }
  }
  const wait = (who: string, amount: number, signal: AbortSignal | undefined): Promise<Permit> =>
    new Promise((done, fail) => {
      const waiter: Waiter = { amount, begin: () => settle(() => done(hold(who, amount))) }
      const settle = (outcome: () => void): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        turns.leave(who, waiter)
        outcome()
      }
      const giveUp = (reason: unknown): void => {
        settle(() => fail(reason))
        turns.serve()
      }
      const abort = (): void => giveUp(signal!.reason)
      const { patience } = options
      const late = (): void => giveUp(busy(`No ${name} became free within ${patience! / 1000} s`))
      const timer = patience === undefined ? undefined : setTimeout(late, patience)
      signal?.addEventListener('abort', abort)
      turns.join(who, waiter)
    })
  const limit: ConcurrencyLimit = {
    async take(who = '', amount = 1, signal) {
      signal?.throwIfAborted()
      if (amount > perClient)
        throw new RangeError(`${amount} ${name} are more than the share of one client (${perClient})`)
      if (held.fits(who, amount) && !turns.isBehind(who)) return hold(who, amount)
      if (turns.of(who) >= waitingPerClient) throw tooManyOf(name, waitingPerClient)
      if (turns.waiting() >= (options.waiting ?? Infinity)) throw busy(`Too many requests are waiting for ${name}`)
      return wait(who, amount, signal)
    },
    async run(work, who) {
      const permit = await limit.take(who)
      try {
        return await work()
      } finally {
        permit.release()
      }
    },
    used: held.used,
    waiting: turns.waiting,
  }
  return limit
}

/** The amounts held, in total and by each client. */
function createHoldings(total: number, perClient: number) {
  const byClient = new Map<string, number>()
  let used = 0
  const isWithinShare = (who: string, amount: number): boolean => (byClient.get(who) ?? 0) + amount <= perClient
  return {
    isWithinShare,
    fits: (who: string, amount: number): boolean => used + amount <= total && isWithinShare(who, amount),
    add(who: string, amount: number): void {
      used += amount
      const left = (byClient.get(who) ?? 0) + amount
      if (left > 0) byClient.set(who, left)
      else byClient.delete(who)
    },
    used: () => used,
  }
}

type Holdings = ReturnType<typeof createHoldings>

interface Waiter {
  readonly amount: number
  /** Leaves the queue and holds its amount. */
  readonly begin: () => void
}

/** The queues of waiting clients, in the order of turns: a client that had a turn goes to the end. */
function createTurns({ fits, isWithinShare }: Holdings) {
  const queues = new Map<string, Waiter[]>()
  let waiting = 0
  /** Gives each waiting client one turn. @returns true if at least one client had a turn. */
  const serveRound = (): boolean => {
    let begun = false
    for (const [who, queue] of [...queues]) {
      const first = queue[0]!
      if (fits(who, first.amount)) {
        first.begin()
        if (queue.length > 0) {
          queues.delete(who)
          queues.set(who, queue)
        }
        begun = true
      }
      // A large amount keeps its place at the head: small ones of other clients would overtake it forever.
      else if (isWithinShare(who, first.amount)) return false
    }
    return begun
  }
  /** True if a request waits for the total itself, not for the share of its client: no request overtakes it. */
  const isScarce = (): boolean => [...queues].some(([who, [first]]) => isWithinShare(who, first!.amount))
  return {
    isBehind: (who: string): boolean => queues.has(who) || (waiting > 0 && isScarce()),
    join(who: string, waiter: Waiter): void {
      const queue = queues.get(who)
      if (queue) queue.push(waiter)
      else queues.set(who, [waiter])
      waiting++
    },
    leave(who: string, waiter: Waiter): void {
      const queue = queues.get(who) ?? []
      const place = queue.indexOf(waiter)
      if (place < 0) return
      queue.splice(place, 1)
      waiting--
      if (queue.length === 0) queues.delete(who)
    },
    serve(): void {
      while (waiting > 0 && serveRound()) {}
    },
    of: (who: string): number => queues.get(who)?.length ?? 0,
    waiting: () => waiting,
  }
}

const tooManyOf = (name: string, waiting: number): Failure =>
  new Failure(
    'RATE_LIMITED',
    `This client has reached its limit of ${name}, and ${waiting} more of its requests are waiting: send fewer requests at a time.`,
    { retryAfter: 1 },
  )

const busy = (what: string): Failure => new Failure('UNAVAILABLE', `${what}: try again.`, { retryAfter: 1 })
