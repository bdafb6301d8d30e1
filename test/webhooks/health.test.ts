// How endpoints fare: what is written down of results, and how often.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { int4Array, safeInt8Array } from '../../src/db/arrays.ts'
import { createHealth } from '../../src/webhooks/health.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

type Results = Parameters<ReturnType<typeof createHealth>['note']>[0]

const result = (endpoint: number, outcome: string, isGone?: boolean) => ({ task: { endpoint }, outcome, isGone })

/** Notes results, and gives what was written of them: of each endpoint its failures, whether it succeeded, and whether it is gone. */
function notes() {
  const written: unknown[][] = []
  const health = createHealth({
    query: async ({ values }: { values: unknown[] }) => {
      written.push(values)
      return [{ key: 9 }]
    },
  } as never)
  return async (...results: object[]): Promise<unknown[] | undefined> => {
    const givenUp = await health.note(results as unknown as Results)
    const [values] = written.splice(0)
    expect(givenUp).toEqual(values ? [{ key: 9 }] : [])
    return values
  }
}

const rows = (...all: readonly (readonly [number, number, number, number])[]) => [
  safeInt8Array(all.map(([endpoint]) => endpoint)),
  ...[1, 2, 3].map(column => int4Array(all.map(row => row[column]!))),
]

test('failures are counted since the last success among the results, in the order of endpoints', async () => {
  const note = notes()
  expect(
    await note(
      ...[result(3, 'failed'), result(1, 'failed'), result(1, 'delivered'), result(2, 'delivered')],
      ...[result(2, 'failed'), result(2, 'exhausted'), result(4, 'withheld'), result(3, 'failed')],
    ),
  ).toEqual(rows([1, 0, 1, 0], [2, 2, 1, 0], [3, 2, 0, 0]))
  expect(await note(result(5, 'exhausted', true), result(5, 'failed', false))).toEqual(rows([5, 2, 0, 1]))
  expect(await note(result(4, 'withheld'))).toBeUndefined()
  expect(await note()).toBeUndefined()
})

test('that an endpoint is well is written once a second, and at once when it was not', async () => {
  const note = notes()
  const well = rows([1, 0, 1, 0])
  expect(await note(result(1, 'delivered'))).toEqual(well)
  expect(await note(result(1, 'delivered'))).toBeUndefined()
  vi.advanceTimersByTime(1000)
  expect(await note(result(1, 'delivered'))).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(await note(result(1, 'delivered'))).toEqual(well)
  expect(await note(result(1, 'failed'))).toEqual(rows([1, 1, 0, 0]))
  expect(await note(result(1, 'delivered'))).toEqual(well)
  expect(await note(result(1, 'delivered'))).toBeUndefined()
})

test('of ten thousand endpoints it is known that they are well', async () => {
  const note = notes()
  const all = Array.from({ length: 10_000 }, (_, at) => result(at, 'delivered'))
  expect(await note(...all)).toBeDefined()
  expect(await note(...all)).toBeUndefined()
  expect(await note(result(10_000, 'delivered'))).toBeDefined()
  expect(await note(result(0, 'delivered'))).toBeDefined()
})
