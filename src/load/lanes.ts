// A bounded number of works at a time, so that reading waits for writing.

export interface Lanes {
  /** Starts the work as soon as a lane is free, and resolves when it has started. @throws what earlier work threw. */
  add(work: () => Promise<void>): Promise<void>
  idle(): Promise<void>
}

/** @param width how many run at a time. */
export function createLanes(width: number): Lanes {
  const running = new Set<Promise<void>>()
  let failed: unknown
  const check = (): void => {
    if (failed !== undefined) throw failed
  }
  return {
    async add(work) {
      while (running.size >= width) await Promise.race(running)
      check()
      const task: Promise<void> = work()
        .catch(error => {
          failed ??= error
        })
        .finally(() => running.delete(task))
      running.add(task)
    },
    async idle() {
      await Promise.all(running)
      check()
    },
  }
}
