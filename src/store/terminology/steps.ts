// How much work on codes one request may bring: what a definition asks for is often many times larger than the definition itself.
import { setImmediate as turn } from 'node:timers/promises'
import { Failure } from '../../lib/failure.ts'

/** Most steps of one request: a concept, a property or an entry of a list, each as often as it is looked at. */
const mostSteps = 5_000_000

/** Steps after which other requests have their turn. */
const together = 100_000

export interface Steps {
  /**
   * Counts work that is done, or is about to be done.
   * @throws Failure VALIDATION_FAILED (`too-costly`) beyond the bound.
   */
  work(steps: number): Promise<void> | undefined
}

export function createSteps(): Steps {
  let [all, since] = [0, 0]
  return {
    work(steps) {
      all += steps
      since += steps
      if (all > mostSteps)
        throw new Failure(
          'VALIDATION_FAILED',
          `The operation looks at codes more than ${mostSteps} times: use fewer codes, filters or imports.`,
          { issue: 'too-costly' },
        )
      if (since < together) return undefined
      since = 0
      return turn()
    },
  }
}
