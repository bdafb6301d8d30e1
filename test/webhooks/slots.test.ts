// Places that so many may have at a time.
import { expect, test } from 'vitest'
import { createSlots } from '../../src/webhooks/slots.ts'

const turn = () => new Promise<void>(done => setImmediate(done))

test('so many have a place at a time; who comes later gets one in his turn when somebody leaves', async () => {
  const slots = createSlots(2)
  const in_: number[] = []
  for (const who of [1, 2, 3, 4]) void slots.take().then(() => in_.push(who))
  await turn()
  expect(in_).toEqual([1, 2])
  slots.leave()
  await turn()
  expect(in_).toEqual([1, 2, 3])
  slots.leave()
  await turn()
  expect(in_).toEqual([1, 2, 3, 4])
})

test('a place that nobody waits for is free for whoever comes', async () => {
  const slots = createSlots(1)
  await slots.take()
  slots.leave()
  const in_: number[] = []
  for (const who of [1, 2]) void slots.take().then(() => in_.push(who))
  await turn()
  expect(in_).toEqual([1])
})
