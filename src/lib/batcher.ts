// Collects items while a batch of others is under way, so that many share one flush: one statement, one commit.

export interface Batcher<Item> {
  /** Adds items. They are flushed with the next batch, which begins unless one is under way. */
  add(items: readonly Item[]): void
  /** Resolves when everything that was added is flushed. */
  idle(): Promise<void>
}

export interface BatcherOptions<Item> {
  /** Waits before a batch for what is about to come. The round counts the batches since nothing was left, from 0. */
  readonly pause: (round: number) => Promise<unknown> | undefined
  /** How many items make up the next batch, at least one; absent: all. */
  readonly sizeOf?: (queue: readonly Item[]) => number
  /** Flushes a batch; never fails. It may add items, which make up a batch of their own. */
  readonly flush: (batch: Item[]) => Promise<void>
}

/** A batcher is idle, or flushing one batch after the other until nothing is left. */
export function createBatcher<Item>({ pause, sizeOf, flush }: BatcherOptions<Item>): Batcher<Item> {
  const queue: Item[] = []
  let flushing: Promise<void> | undefined
  async function flushAll(): Promise<void> {
    for (let round = 0; queue.length > 0; round++) {
      await pause(round)
      await flush(queue.splice(0, sizeOf?.(queue) ?? queue.length))
    }
    // Reset synchronously, before anything can join the queue: the next item starts a new batch.
    flushing = undefined
  }
  return {
    add(items) {
      queue.push(...items)
      if (queue.length > 0) flushing ??= flushAll()
    },
    idle: () => flushing ?? Promise.resolve(),
  }
}
