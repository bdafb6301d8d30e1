// Items that are flushed in batches, one batch at a time.
import { expect, test } from 'vitest'
import { createBatcher } from '../../src/lib/batcher.ts'

test('what is added while a batch is under way makes up the next one, and what is too much waits for another', async () => {
  const batches: number[][] = []
  const rounds: number[] = []
  const batcher = createBatcher<number>({
    pause: async round => void rounds.push(round),
    sizeOf: queue => Math.min(queue.length, 3),
    async flush(batch) {
      batches.push(batch)
      if (batch.includes(1)) batcher.add([4, 5])
      await undefined
    },
  })
  batcher.add([1])
  batcher.add([2])
  await batcher.idle()
  batcher.add([6, 7, 8, 9])
  await batcher.idle()
  expect([batches, rounds]).toEqual([
    [[1, 2], [4, 5], [6, 7, 8], [9]],
    [0, 1, 0, 1],
  ])
})

test('without a pause each batch begins at once, and nothing added begins none', async () => {
  const batches: number[][] = []
  const batcher = createBatcher<number>({ pause: () => undefined, flush: async batch => void batches.push(batch) })
  batcher.add([])
  await batcher.idle()
  batcher.add([1])
  await batcher.idle()
  batcher.add([2])
  await batcher.idle()
  expect(batches).toEqual([[1], [2]])
})

test('what is added at the moment at which the last batch ends is flushed, too', async () => {
  for (let turns = 0; turns < 6; turns++) {
    const batches: number[][] = []
    const batcher = createBatcher<number>({
      pause: () => undefined,
      async flush(batch) {
        batches.push(batch)
        if (batch[0] === 1) void late()
      },
    })
    const late = async (): Promise<void> => {
      for (let turn = 0; turn < turns; turn++) await undefined
      batcher.add([2])
    }
    batcher.add([1])
    await new Promise(setImmediate)
    await batcher.idle()
    expect(batches).toEqual([[1], [2]])
  }
})
