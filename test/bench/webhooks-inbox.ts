// The receivers as a bench sees them: where they are, how they are to behave, and what they got.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'

export interface Behaviour {
  /** The receivers that answer after ten seconds only. */
  readonly hanging: readonly number[]
  /** Share of requests that are answered with 500. */
  readonly failing: number
  /** What is kept beside how many came: nothing; of each event of an encounter when; or how often each event came. */
  readonly keeps: 'numbers' | 'arrivals' | 'tallies'
}

export interface Arrival {
  readonly place: number
  /** Id of the encounter. */
  readonly subject: string
  /** Of its first byte, in milliseconds since 1970. */
  readonly at: number
}

/** How an event fared at a receiver. */
export interface Tally {
  readonly place: number
  readonly event: string
  received: number
  /** How often it was answered with 200. */
  accepted: number
}

export interface Heard {
  /** How many came, by receiver. */
  readonly counts: readonly number[]
  /** When the last one came, in milliseconds since 1970. */
  readonly last: number
  readonly arrivals: readonly Arrival[]
  readonly tallies: readonly Tally[]
}

export interface Inbox {
  readonly pid: number
  readonly urls: readonly string[]
  /** Forgets what came, and has them behave so from now on. */
  behave(behaviour: Partial<Behaviour>): Promise<void>
  /** What has come so far; with everything that was to be kept, or only how many. */
  heard(what?: 'numbers' | 'everything'): Promise<Heard>
  stop(): Promise<void>
}

const most = 50

/** Starts receivers on ports of their own. */
export async function openInbox(): Promise<Inbox> {
  const child = fork(join(import.meta.dirname, 'webhooks-receiver.ts'), {
    env: { ...process.env, PLACES: String(most) },
    serialization: 'advanced',
  })
  const urls = await next<string[]>(child)
  let before: Promise<unknown> = Promise.resolve()
  // One at a time, so that each gets its own answer.
  const ask = <T>(what: Behaviour | 'numbers' | 'everything'): Promise<T> => {
    const asked = before.then(() => {
      child.send(what)
      return next<T>(child)
    })
    before = asked
    return asked
  }
  return {
    pid: child.pid!,
    urls,
    async behave(behaviour) {
      await ask({ hanging: [], failing: 0, keeps: 'numbers', ...behaviour })
    },
    heard: (what = 'numbers') => ask<Heard>(what),
    stop() {
      child.disconnect()
      return next(child, 'exit')
    },
  }
}

const next = <T>(child: ChildProcess, event = 'message'): Promise<T> =>
  new Promise(done => child.once(event, told => done(told as T)))
