// Lanes: what a process has in hand for each endpoint, counted so that one endpoint never takes the room of the others.
import { expect, test } from 'vitest'
import { createLanes } from '../../src/webhooks/lanes.ts'
import type { Task } from '../../src/webhooks/queue.ts'

const task = (endpoint: number): Task => ({ endpoint }) as Task

/** Lanes whose work ends when it is told to, by a clock that stands still. */
function held(concurrency: number) {
  const begun: { readonly task: Task; end(): void }[] = []
  const clock = { now: 10_000 }
  const lanes = createLanes<Task>({
    concurrency,
    first: 3,
    work: of => new Promise(done => void begun.push({ task: of, end: done })),
    now: () => clock.now,
  })
  return { begun, lanes, clock }
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

/** Has endpoint 1 answer so many tasks, one after another. */
async function answered({ lanes, begun }: ReturnType<typeof held>, count: number): Promise<void> {
  lanes.add(Array.from({ length: count }, () => task(1)))
  while (lanes.held > 0) {
    for (const each of begun.splice(0)) each.end()
    await turn()
  }
}

test('an endpoint has room for what it answers in a twentieth of a second, of this second or the one before', async () => {
  const of = held(2)
  const room = () => of.lanes.rooms().get(1)
  await answered(of, 100)
  expect(room()).toBe(5)
  of.clock.now = 10_999
  await answered(of, 20)
  expect(room()).toBe(6)
  of.clock.now = 11_000
  await answered(of, 1)
  expect(room()).toBe(6)
  await answered(of, 159)
  expect(room()).toBe(8)
  of.clock.now = 12_999
  await answered(of, 1)
  expect(room()).toBe(8)
  await answered(of, 159)
  of.clock.now = 14_999
  await answered(of, 1)
  expect(room()).toBe(2)
})

test('however fast an endpoint answers, no more than 500 are taken of it', async () => {
  const of = held(400)
  await answered(of, 10_001)
  expect(of.lanes.rooms().get(1)).toBe(500)
})

test('an endpoint that leaves all unanswered for a second keeps nothing waiting, and has room for the first few again', async () => {
  const of = held(4)
  await answered(of, 3)
  of.lanes.add([task(1), task(1), task(1), task(1), task(1)])
  of.clock.now = 11_000
  expect(of.lanes.shed()).toEqual([])
  of.clock.now = 11_001
  expect(of.lanes.shed()).toHaveLength(1)
  expect([of.lanes.held, of.lanes.rooms().get(1)]).toEqual([4, 0])
  for (const each of of.begun.splice(0, 2)) each.end()
  await turn()
  of.clock.now = 12_002
  expect(of.lanes.rooms().get(1)).toBe(1)
})

test('an endpoint that has nothing to do keeps its pace for five seconds, and is forgotten then', async () => {
  const of = held(4)
  await answered(of, 3)
  of.clock.now = 14_000
  of.lanes.add([task(1)])
  expect(of.lanes.rooms()).toEqual(new Map([[1, 3]]))
  of.begun.pop()!.end()
  await turn()
  of.clock.now = 19_000
  expect(of.lanes.rooms()).toEqual(new Map([[1, 4]]))
  of.clock.now = 19_001
  expect(of.lanes.rooms()).toEqual(new Map())
  of.lanes.add([task(1)])
  of.clock.now = 109_999
  expect(of.lanes.rooms()).toEqual(new Map([[1, 2]]))
})
