// Lanes: what a process has in hand for each endpoint, counted so that one endpoint never takes the room of the others.
import { expect, test } from 'vitest'
import { createLanes } from '../../src/webhooks/lanes.ts'
import type { Task } from '../../src/webhooks/queue.ts'

const task = (endpoint: number): Task => ({ endpoint }) as Task

/** Lanes whose work ends when it is told to. */
function held(abreast: number) {
  const begun: { readonly task: Task; end(): void }[] = []
  const lanes = createLanes({
    abreast,
    first: 3,
    work: of => new Promise(done => void begun.push({ task: of, end: done })),
  })
  return { begun, lanes }
}

const turn = () => new Promise<void>(done => setImmediate(done))

test('a task that has ended is not held any more', async () => {
  const { begun, lanes } = held(2)
  lanes.add([task(1), task(1), task(1), task(2)])
  expect([lanes.held, begun.length]).toEqual([4, 3])
  begun[0]!.end()
  await turn()
  expect([lanes.held, begun.length]).toEqual([3, 4])
  for (const each of begun) each.end()
  await turn()
  expect(lanes.held).toBe(0)
})

test('a lane begins so many at a time, and its next when one has ended', async () => {
  const { begun, lanes } = held(1)
  lanes.add([task(1), task(1), task(2)])
  expect(begun.map(each => each.task.endpoint)).toEqual([1, 2])
  begun[1]!.end()
  await turn()
  expect(begun).toHaveLength(2)
  begun[0]!.end()
  await turn()
  expect(begun.map(each => each.task.endpoint)).toEqual([1, 2, 1])
})

test('an endpoint that has not answered has room for the first few, less what is in hand', () => {
  const { lanes } = held(2)
  lanes.add([task(1), task(2), task(2), task(2), task(2)])
  expect(lanes.rooms()).toEqual(
    new Map([
      [1, 2],
      [2, 0],
    ]),
  )
})

test('what waits is let go of when the process stops, and is not held after it', () => {
  const { begun, lanes } = held(1)
  lanes.add([task(1), task(1), task(2), task(2)])
  expect(lanes.drain().map(each => each.endpoint)).toEqual([1, 2])
  expect([lanes.held, begun.length]).toEqual([2, 2])
})

test('an endpoint that has begun to answer keeps what waits for it', () => {
  const { lanes } = held(1)
  lanes.add([task(1), task(1)])
  expect(lanes.shed()).toEqual([])
  expect(lanes.held).toBe(2)
})
