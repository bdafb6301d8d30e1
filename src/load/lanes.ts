// A bounded number of works at a time, so that reading waits for writing.
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'

export interface Lanes {
  /** Starts the work as soon as a lane is free, and resolves when it has started. @throws what earlier work threw. */
  add(work: () => Promise<void>): Promise<void>
  /** Resolves when nothing runs. @throws what work threw. */
  idle(): Promise<void>
}

/** @param width how many run at a time. */
export function createLanes(width: number): Lanes {
  const limit = createConcurrencyLimit({ name: 'lanes', total: width })
  let failed: { readonly error: unknown } | undefined
  return {
    async add(work) {
      const { release } = await limit.take()
      if (failed) {
        release()
        throw failed.error
      }
      void work()
        .catch(error => {
          failed ??= { error }
        })
        .finally(release)
    },
    async idle() {
      const { release } = await limit.take('', width)
      release()
      if (failed) throw failed.error
    },
  }
}
