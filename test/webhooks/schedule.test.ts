import { describe, expect, test } from 'vitest'
import { mostAttempts, verdictOf } from '../../src/webhooks/schedule.ts'

const answer = (status: number | undefined, retryAfter?: number) => ({ status, retryAfter })

describe('after an attempt', () => {
  test.each([200, 201, 202, 204, 299])('a %i means delivered', status => {
    expect(verdictOf(answer(status), 1, 0)).toEqual({ outcome: 'delivered', again: undefined, isGone: false })
    expect(verdictOf(answer(status), 7, 0)).toEqual({ outcome: 'delivered', again: undefined, isGone: false })
  })

  test.each([
    [1, 60],
    [2, 300],
    [3, 900],
    [4, 3600],
    [5, 21_600],
    [6, 86_400],
  ])(
    'that failed and was number %i the next one is due after %i seconds, and at most a fiftieth later',
    (attempt, seconds) => {
      for (const failed of [undefined, 100, 199, 300, 301, 400, 404, 429, 500, 503]) {
        expect(verdictOf(answer(failed), attempt, 0)).toEqual({ outcome: 'failed', again: seconds, isGone: false })
        expect(verdictOf(answer(failed), attempt, 1).again).toBeCloseTo(seconds * 1.02)
      }
    },
  )

  test('that was the seventh a failure is the end', () => {
    expect(mostAttempts).toBe(7)
    expect(verdictOf(answer(500), 7, 0.5)).toEqual({ outcome: 'exhausted', again: undefined, isGone: false })
    expect(verdictOf(answer(undefined), 7, 0.5).outcome).toBe('exhausted')
  })

  test('a receiver may ask for more time by Retry-After, a day at most, and never for less', () => {
    expect(verdictOf(answer(503, 120), 1, 0).again).toBe(120)
    expect(verdictOf(answer(429, 5), 1, 0).again).toBe(60)
    expect(verdictOf(answer(503, 10_000_000), 1, 0).again).toBe(86_400)
    expect(verdictOf(answer(503, 60), 7, 0).again).toBeUndefined()
  })

  test('410 Gone ends it at once', () => {
    expect(verdictOf(answer(410), 1, 0)).toEqual({ outcome: 'exhausted', again: undefined, isGone: true })
  })
})
