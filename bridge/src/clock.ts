// Time and chance, as one value that tests replace: nothing else of the agent asks the machine for them.

export interface Clock {
  /** Milliseconds since 1970, as this machine believes. */
  now(): number
  /** Resolves after `ms`, or at once when the signal is raised. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /** From 0 to 1. */
  random(): number
}

/** Longest time that a timer of Node can wait. */
const longest = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise(done => {
      if (signal?.aborted) return done()
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        done()
      }
      const timer = setTimeout(end, Math.min(ms, longest))
      signal?.addEventListener('abort', end)
    }),
  random: () => Math.random(),
}
