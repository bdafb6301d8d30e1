// Changes whose rows could not be written at once: a process that stops writes those it knows of before it ends.
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { createLeftOver } from '../../src/audit/left-over.ts'
import { createLog } from '../../src/lib/log.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { age, databaseOf, pendingIn } from '../support/trail.ts'

let service: Service
let database: pg.Client
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  database = await databaseOf(service)
})

test('closing waits until what was found has been told', async () => {
  await database.query('alter table audit_event add constraint shut check (false) not valid')
  expect((await call('PUT', 'Patient/amina', { body: { resourceType: 'Patient', id: 'amina' } })).status).toBe(503)
  expect(await pendingIn(database)).toBe(1)
  await age(database)
  const told: string[] = []
  let proceed = (): void => {}
  const held = new Promise<void>(done => (proceed = done))
  const leftOver = createLeftOver({
    database: service.application.database,
    log: createLog('silent'),
    async tell({ id }) {
      await held
      told.push(id)
    },
  })
  leftOver.start()
  let isClosed = false
  const closing = leftOver.close().then(() => (isClosed = true))
  await service.application.database.query({ text: 'select 1', values: [] })
  await new Promise<void>(done => setImmediate(done))
  expect(isClosed).toBe(false)
  proceed()
  await closing
  expect(told).toHaveLength(1)
})

/** What is left over of so many changes, as claims give it: those that are asked for, and what anybody has left, 50 at a time. */
function leftOverOf(count: number) {
  const waiting = Array.from({ length: count }, (_, at) => String(at).padStart(5, '0'))
  const told: string[] = []
  const asked: string[][] = []
  const said: number[] = []
  const leftOver = createLeftOver({
    database: {
      async query({ values }: { values: readonly unknown[] }) {
        const text = String(values[0])
        asked.push(waiting.filter(id => text.includes(id)))
        const claimed = waiting.splice(0, 50).map(id => ({ id, told: JSON.stringify([0, {}, []]) }))
        return claimed.toReversed()
      },
    } as never,
    log: Object.assign(createLog('silent'), { info: ({ changes }: { changes: number }) => said.push(changes) }),
    tell: async ({ id }) => void told.push(id),
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
