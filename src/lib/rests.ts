// How much of the thread that answers requests the large bodies and answers of one client take: a third of it at most, so that the
// requests of others are answered between two of them.
import { setTimeout as sleep } from 'node:timers/promises'

export interface Rests {
  /** Notes work of a client, in milliseconds of the thread. */
  add(who: string, work: number): void
  /** Waits until the client has rested for what it did. @throws the reason of `signal`. */
  over(who: string, signal?: AbortSignal): Promise<void> | undefined
}

export interface RestsOptions {
  /** Milliseconds of any clock that never goes back. */
  readonly now?: () => number
  readonly wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

/** Milliseconds until the next work may begin, for each millisecond of work. */
const perWork = 3

/** Nothing keeps what comes next waiting for longer, in milliseconds. */
const longest = 1000

/** Clients that are remembered before those whose rest is over are forgotten. */
const mostKnown = 1000

const waitFor = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, signal && { signal }).catch(error => {
    throw signal?.aborted ? signal.reason : error
  })

/**
 * Rests by client, for one process. Time that passes while the work itself waits, for the database or for what has yet to arrive, counts as rest:
 * a client that sends large transactions one after the other is not slowed down.
 */
export function createRests({ now = () => performance.now(), wait = waitFor }: RestsOptions = {}): Rests {
  const until = new Map<string, number>()
  return {
    add(who, work) {
      const time = now()
      if (until.size >= mostKnown) for (const [each, end] of until) if (end <= time) until.delete(each)
      until.set(who, Math.max(time, until.get(who) ?? 0) + Math.min(longest, perWork * work))
    },
    over(who, signal) {
      const left = (until.get(who) ?? 0) - now()
      return left > 0 ? wait(left, signal) : undefined
    },
  }
}
