// Watches a connection while statements of one client run on it: they end when the client has gone, or took too long.
import { Failure } from '../lib/failure.ts'

/** The client for which statements run, and when they end. */
export interface Asking {
  /** The client that pays. */
  readonly who: string
  /** Aborted when no caller waits for the answer any more. */
  readonly signal: AbortSignal
  /** Milliseconds that one statement outside of a transaction may take; undefined: as long as any statement. */
  readonly limit?: number | undefined
}

/** The state of a connection that a client uses. */
export interface Watch {
  /**  @throws the reason of the signal, once no more statements may begin. */
  check(): void
  /** Ends the statement that begins now after this many milliseconds; undefined: never. */
  within(limit: number | undefined): void
  /** Stops ending statements: the rest completes as a whole. */
  finish(): void
  /** Returns why the statement was ended; undefined if it was not. */
  reason(): unknown
}

/**
 * Milliseconds that a statement goes on after its client has gone: most end by themselves, and asking PostgreSQL to end
 * one costs two connections.
 */
const grace = 100

/** Watches connections for one client: one listener for all of them, since a request has many statements. */
export interface Watcher {
  /** Begins to watch a connection or a statement. @param cancel ends the statement that runs */
  over(cancel: () => void): Watch
}

export function createWatcher(signal: AbortSignal): Watcher {
  const leaving = new Set<() => void>()
  let isListening = false
  const listen = (): void => {
    isListening = true
    signal.addEventListener('abort', () => {
      for (const leave of leaving) leave()
    })
  }
  return {
    over(cancel) {
      if (!isListening) listen()
      let reason: unknown
      const end = (why: unknown): void => {
        if (reason !== undefined) return
        reason = why
        cancel()
      }
      let left: NodeJS.Timeout | undefined
      const leave = (): void => {
        left = setTimeout(() => end(signal.reason), grace)
      }
      let slow: NodeJS.Timeout | undefined
      leaving.add(leave)
      return {
        check: () => signal.throwIfAborted(),
        within(limit) {
          if (limit !== undefined) slow = setTimeout(() => end(tooSlow(limit)), limit)
        },
        finish() {
          clearTimeout(slow)
          clearTimeout(left)
          leaving.delete(leave)
        },
        reason: () => reason,
      }
    },
  }
}

const tooSlow = (limit: number): Failure =>
  new Failure(
    'UNAVAILABLE',
    `The database cancelled the statement after ${limit / 1000} s: narrow the request by a patient, a code or a date.`,
    { issue: 'too-costly' },
  )
