// How many are allowed at once, how they come back, and what is remembered.
import { expect, test } from 'vitest'
import { createRateLimiter } from '../../src/lib/rate-limiter.ts'

test.each<[limit: number, window: number, used: number, now: number, expected: object]>([
  [4, 60_000, 0, 0, { wait: 0, remaining: 4, reset: 0 }],
  [4, 60_000, 1, 0, { wait: 0, remaining: 3, reset: 15_000 }],
  [4, 60_000, 4, 0, { wait: 15_000, remaining: 0, reset: 60_000 }],
  [4, 60_000, 4, 14_999, { wait: 1, remaining: 0, reset: 45_001 }],
  [4, 60_000, 4, 15_000, { wait: 0, remaining: 1, reset: 45_000 }],
  [4, 60_000, 4, 60_000, { wait: 0, remaining: 4, reset: 0 }],
  [4, 60_000, 4, 3_600_000, { wait: 0, remaining: 4, reset: 0 }],
  [2, 1000, 1, 250, { wait: 0, remaining: 1, reset: 250 }],
  [1, 60_000, 1, 1, { wait: 59_999, remaining: 0, reset: 59_999 }],
])('of %i in %i ms, when %i are used, after %i ms: %j', (limit, window, used, now, expected) => {
  const limiter = createRateLimiter(limit, window)
  for (let count = 0; count < used; count++) limiter.add('a', 0)
  const [wait, remaining, reset] = [limiter.wait('a', now), limiter.remaining('a', now), limiter.reset('a', now)]
  expect({ wait, remaining, reset }).toEqual(expected)
  expect(limiter.remaining('b', now)).toBe(limit)
})

test('what is counted beyond the limit is not owed, and what is given back is there again', () => {
  const limiter = createRateLimiter(2)
  for (let count = 0; count < 5; count++) limiter.add('a', 0)
  expect(limiter.wait('a', 0)).toBe(30_000)
  limiter.add('a', 0, -1)
  expect(limiter.remaining('a', 0)).toBe(1)
  limiter.add('a', 0, -1)
  limiter.add('a', 0, -1)
  expect(limiter.remaining('a', 0)).toBe(2)
})

test('fifty thousand keys are remembered, those that were counted last', () => {
  const limiter = createRateLimiter(2)
  limiter.add('first', 0)
  limiter.add('second', 0)
  // Takes no room: nothing of it is used.
  limiter.add('none', 0, -1)
  limiter.add('first', 0)
  for (let count = 0; count < 49_998; count++) limiter.add(`key ${count}`, 0)
  expect([limiter.remaining('first', 0), limiter.remaining('second', 0)]).toEqual([0, 1])
  limiter.add('last', 0)
  expect([limiter.remaining('first', 0), limiter.remaining('second', 0)]).toEqual([0, 2])
})
