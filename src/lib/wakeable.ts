// Background work that runs when it is woken: one run at a time, and once more if it was woken meanwhile.

export interface Wakeable {
  /** Has the work run, and once more if it runs already. Resolves when the run that is under way ends. */
  wake(): Promise<void>
  /** Resolves when the run that is under way ends; at once if there is none. */
  ended(): Promise<void>
}

/** The run that is under way. */
interface Run {
  readonly ended: Promise<void>
  /** True if it was woken meanwhile: another run follows. */
  isAgain: boolean
}

/**
 * Creates work that is idle, running, or running and to run again.
 * @param work never fails
 */
export function createWakeable(work: () => Promise<void>): Wakeable {
  let run: Run | undefined
  const begin = (): Run => {
    const ended = work().finally(() => {
      run = begun.isAgain ? begin() : undefined
    })
    const begun: Run = { ended, isAgain: false }
    return begun
  }
  return {
    wake() {
      if (run) run.isAgain = true
      else run = begin()
      return run.ended
    },
    ended: () => run?.ended ?? Promise.resolve(),
  }
}
