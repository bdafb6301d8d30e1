// Work that several ask for at a time.
import { expect, test } from 'vitest'
import { singleFlight } from '../../src/lib/single-flight.ts'

test('what asks for work while it runs shares the outcome, and what asks later has it run anew', async () => {
  let runs = 0
  const flight = singleFlight(async () => {
    await new Promise(setImmediate)
    return ++runs
  })
  expect(await Promise.all([flight.run(), flight.run()])).toEqual([1, 1])
  expect(await flight.run()).toBe(2)
})

test('work that fails does so for all that share it, and runs again', async () => {
  const ends: ((error: Error) => void)[] = []
  const flight = singleFlight(() => new Promise<void>((_done, fail) => void ends.push(fail)))
  await flight.ended()
  const both = Promise.allSettled([flight.run(), flight.run()])
  let isOver = false
  const over = flight.ended().then(() => {
    isOver = true
  })
  await new Promise(setImmediate)
  expect([ends.length, isOver]).toEqual([1, false])
  ends[0]!(new Error('failed'))
  expect((await both).map(each => each.status)).toEqual(['rejected', 'rejected'])
  await over
  void flight.run().catch(() => {})
  expect(ends).toHaveLength(2)
})
