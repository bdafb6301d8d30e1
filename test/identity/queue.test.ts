// Work that fills a core: so much at a time, so much that waits, and the rest is told to come back.
import { expect, test } from 'vitest'
import { createQueue } from '../../src/identity/queue.ts'

const settled = () => new Promise<void>(done => setImmediate(done))

test('two are done at a time, three wait, the sixth is told to come back, and whoever waits has the next turn', async () => {
  const queue = createQueue(2, 3)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const done = [0, 1, 2, 3, 4].map(each =>
    queue.run(async () => {
      begun.push(each)
      await new Promise<void>(end => ends.push(end))
      if (each === 1) throw new Error('failed')
      return each
    }),
  )
  const outcomes = Promise.allSettled(done)
  await expect(queue.run(async () => 5)).rejects.toMatchObject({ code: 'UNAVAILABLE', options: { retryAfter: 1 } })
  expect(begun).toEqual([0, 1])
  for (let ended = 1; ended <= 5; ended++) {
    ends.shift()!()
    await settled()
    expect(begun).toHaveLength(Math.min(5, 2 + ended))
  }
  expect((await outcomes).map(each => (each.status === 'fulfilled' ? each.value : each.reason.message))).toEqual([
    ...[0, 'failed', 2, 3, 4],
  ])
  expect(await queue.run(async () => 6)).toBe(6)
})
