// Changes whose rows could not be written at once: a process that stops writes those it knows of before it ends.
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createLeftOver } from '../../src/audit/left-over.ts'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { ageKept, keepChanges, trailDatabase } from '../support/trail.ts'

let database: Database
afterEach(() => void vi.useRealTimers())
beforeAll(async () => {
  database = await trailDatabase()
})

test('closing waits until what was found has been told', async () => {
  await ageKept(database, 11, await keepChanges(database, []))
  const told: string[] = []
  let proceed = (): void => {}
  const held = new Promise<void>(done => (proceed = done))
  const leftOver = createLeftOver({
    ...{ database, log: createLog('silent') },
    async record({ id }) {
      await held
      told.push(id)
    },
  })
  leftOver.start()
  let isClosed = false
  const closing = leftOver.close().then(() => (isClosed = true))
  await database.query({ text: 'select 1', values: [] })
  await new Promise<void>(done => setImmediate(done))
  expect(isClosed).toBe(false)
  proceed()
  await closing
  expect(told).toHaveLength(1)
})

/** What is left over of so many changes, as claims give it: those that are asked for, and what anybody has left, 50 at a time. */
function leftOverOf(count: number) {
  const all = Array.from({ length: count }, (_, at) => String(at).padStart(5, '0'))
  const waiting = [...all]
  const told: string[] = []
  const asked: string[][] = []
  const said: number[] = []
  const leftOver = createLeftOver({
    database: {
      async query({ values }: { values: readonly unknown[] }) {
        const text = String(values[0])
        asked.push(all.filter(id => text.includes(id)))
        const claimed = waiting.splice(0, 50).map(id => ({ id, told: JSON.stringify([0, {}, []]) }))
        return claimed.toReversed()
      },
    } as never,
    log: Object.assign(createLog('silent'), { info: ({ changes }: { changes: number }) => said.push(changes) }),
    record: async ({ id }) => void told.push(id),
  })
  return { leftOver, told, asked, said }
}

test('what anybody has left over is told to the last, fifty at a time', async () => {
  for (const [count, looks, expected] of [
    [0, 1, []],
    [49, 1, [49]],
    [50, 2, [50]],
    [120, 3, [50, 50, 20]],
  ] as const) {
    const { leftOver, told, asked, said } = leftOverOf(count)
    leftOver.start()
    await leftOver.close()
    expect([told.length, told, asked.length]).toEqual([count, told.toSorted(), looks])
    expect(said).toEqual(expected)
  }
})

test('what is owed is told when the trail can be written, and asked for no more after that', async () => {
  const { leftOver, told, asked } = leftOverOf(60)
  leftOver.settle()
  await new Promise<void>(done => setImmediate(done))
  expect(asked).toEqual([])
  leftOver.owe(['00001', '00055', 'told by somebody else'].map(id => ({ id, changes: [] })))
  leftOver.settle()
  for (let turns = 0; turns < 20; turns++) await new Promise<void>(done => setImmediate(done))
  expect(told).toHaveLength(60)
  leftOver.settle()
  await leftOver.close()
  expect(asked).toEqual([['00001', '00055'], ['00055']])
})

test('what is owed when the process stops is told before it ends', async () => {
  const { leftOver, told } = leftOverOf(1)
  leftOver.owe([{ id: '00000', changes: [] }])
  await leftOver.close()
  expect(told).toEqual(['00000'])
})

test('what is left over is looked for every ten seconds, and no more when the process ends', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { leftOver, asked } = leftOverOf(0)
  leftOver.start()
  const looks: number[] = []
  for (const seconds of [9, 1, 10]) {
    vi.advanceTimersByTime(seconds * 1000)
    await new Promise<void>(done => setImmediate(done))
    looks.push(asked.length)
  }
  expect(looks).toEqual([1, 2, 3])
  await leftOver.close()
  vi.advanceTimersByTime(60_000)
  expect(asked).toHaveLength(3)
})

test('whoever asks while others look waits for the same look', async () => {
  const { leftOver, asked } = leftOverOf(0)
  leftOver.owe([{ id: 'told by somebody else', changes: [] }])
  leftOver.start()
  leftOver.settle()
  await leftOver.close()
  expect(asked).toHaveLength(1)
})

test('a look that fails is told, and the next one finds what that did not', async () => {
  const warned: object[] = []
  const told: string[] = []
  let isBroken = true
  const leftOver = createLeftOver({
    database: {
      ...database,
      query: statement => (isBroken ? Promise.reject(new Error('no connection')) : database.query(statement)),
    },
    log: createLog('warn', { write: line => void warned.push(JSON.parse(line)) }),
    record: async ({ id }) => void told.push(id),
  })
  const kept = await keepChanges(database, [])
  leftOver.owe([kept])
  leftOver.settle()
  await new Promise<void>(done => setImmediate(done))
  expect(warned).toMatchObject([{ err: { message: 'no connection' }, msg: 'audit: could not record pending changes' }])
  isBroken = false
  await leftOver.close()
  expect(told).toEqual([kept.id])
})

test('of what is owed the last ten thousand are remembered', async () => {
  const owed = Array.from({ length: 10_001 }, (_, at) => ({ id: `<${at}>`, changes: [] }))
  const asked: string[] = []
  const leftOver = createLeftOver({
    database: {
      async query({ values }: { values: readonly unknown[] }) {
        asked.push(String(values[0]))
        return []
      },
    } as never,
    log: createLog('silent'),
    record: async () => {},
  })
  leftOver.owe(owed)
  await leftOver.close()
  expect(['<0>', '<1>', '<10000>'].map(id => asked[0]!.includes(id))).toEqual([false, true, true])
})
