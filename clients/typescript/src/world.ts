// Time and chance, which the tests of the library replace.

/** Where a client gets time and chance from. */
export interface World {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Seconds since 1970 by the clock of the system, which may be wrong. */
  readonly unixTime: () => number
  /** A number from 0, below 1. */
  readonly random: () => number
  /** Resolves after these milliseconds; rejects with the reason of the signal when that ends it. */
  readonly sleep: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

/** The real world. */
export const world: World = {
  now: () => performance.now(),
  unixTime: () => Date.now() / 1000,
  random: Math.random,
  sleep,
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, fail) => {
    const end = () => {
      clearTimeout(timer)
      fail(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      done()
    }, milliseconds)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}

/** The same promise, unless the signal ends the wait first; what was waited for goes on. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((done, fail) => {
    const end = () => fail(signal.reason)
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
    promise.then(done, fail).finally(() => signal.removeEventListener('abort', end))
  })
}
