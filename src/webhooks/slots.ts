// So many at a time: who comes later waits for a place.

export interface Slots {
  /** Resolves when there is a place, which is taken then. */
  take(): Promise<void>
  leave(): void
}

export function createSlots(most: number): Slots {
  let free = most
  const waiting: (() => void)[] = []
  return {
    async take() {
      if (free > 0) free--
      else await new Promise<void>(done => waiting.push(done))
    },
    leave() {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}
