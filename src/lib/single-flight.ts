// Work that runs once at a time: callers that request it while it runs share the outcome.

export interface SingleFlight<T> {
  /** The outcome of the run that is under way, or of a new one. */
  run(): Promise<T>
  /** Resolves when the run that is under way ends; at once if there is none. */
  ended(): Promise<void>
}

export function singleFlight<T>(work: () => Promise<T>): SingleFlight<T> {
  let running: Promise<T> | undefined
  return {
    run() {
      running ??= work().finally(() => {
        running = undefined
      })
      return running
    },
    async ended() {
      await running?.catch(() => {})
    },
  }
}
