// What comes of work that ends in time, late, or never.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withDeadline } from '../../src/lib/deadline.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const after = <T>(milliseconds: number, outcome: () => T): Promise<T> =>
  new Promise<void>(done => setTimeout(done, milliseconds)).then(outcome)

const late = () => 'late'
const failing = (): never => {
  throw new Error('failed')
}

test.each([
  [99, 'done'],
  [101, 'late'],
])('work of %i ms with a deadline of 100 ms: %s', async (milliseconds, outcome) => {
  const waited = withDeadline(
    after(milliseconds, () => 'done'),
    100,
    late,
  )
  await vi.advanceTimersByTimeAsync(101)
  expect(await waited).toBe(outcome)
})

test('work that fails in time fails, and late work fails for nobody', async () => {
  const [early, never] = [withDeadline(after(99, failing), 100, late), withDeadline(after(101, failing), 100, late)]
  const failed = expect(early).rejects.toThrow('failed')
  await vi.advanceTimersByTimeAsync(101)
  await failed
  expect(await never).toBe('late')
})

test('what stands for late work may be a failure', async () => {
  const waited = withDeadline(
    after(200, () => 'done'),
    100,
    failing,
  )
  const failed = expect(waited).rejects.toThrow('failed')
  await vi.advanceTimersByTimeAsync(200)
  await failed
})

test('no timer outlives the work', async () => {
  await withDeadline(Promise.resolve(1), 60_000, late)
  await withDeadline(Promise.reject(new Error('failed')), 60_000, late).catch(() => {})
  expect(vi.getTimerCount()).toBe(0)
})
