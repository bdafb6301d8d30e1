// The recorder: outcomes of tasks are recorded in batches, and tried again while the database does not respond.
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Ending, Outcome } from '../../src/webhooks/attempt-task.ts'
import { claim } from '../../src/webhooks/claim.ts'
import type { Task } from '../../src/webhooks/queue.ts'
import { createRecorder, type RecorderParts } from '../../src/webhooks/recorder.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})
beforeEach(() => queue.clear())
afterEach(() => void vi.useRealTimers())

/** Takes one task for each of so many events, the oldest first. */
async function taken(count: number): Promise<Task[]> {
  const endpoint = await queue.endpoint()
  for (let at = 0; at < count; at++)
    await queue.due(endpoint, await queue.event(), { due_at: new Date(Date.now() - (count - at) * 1000) })
  const tasks = await claim(queue.database, { lease: 7n, seconds: 30, most: 100, usual: count, rooms: new Map() })
  return tasks.toSorted((a, b) => (a.event < b.event ? -1 : 1))
}

const returned = (task: Task): Outcome => ({ kind: 'returned', task })
const dropped = (task: Task): Outcome => ({ kind: 'dropped', task })
const ended = (task: Task, more: Partial<Ending> = {}): Outcome => ({
  kind: 'ended',
  ending: {
    ...{ task, outcome: 'delivered', startedAt: new Date(), milliseconds: 1, status: 204 },
    ...{ error: undefined, excerpt: undefined, again: undefined, ...more },
  },
})

/** A recorder, with what it does in order: pauses (milliseconds), names of statements, batches that are recorded, and log messages. */
function recorder({ before, ...more }: Partial<RecorderParts> & { before?: (name: string) => void } = {}) {
  const done: unknown[] = []
  const database: Database = {
    ...queue.database,
    query(statement) {
      done.push(statement.name)
      before?.(statement.name!)
      return queue.database.query(statement)
    },
  }
  const made = createRecorder({
    database,
    log: createLog('info', { write: line => void done.push(JSON.parse(line)) }),
    givenUp: () => expect.unreachable(),
    recorded: () => void done.push('recorded'),
    isClosing: () => false,
    sleep: async milliseconds => void done.push(milliseconds),
    leaseSeconds: 30,
    ...more,
  })
  return { ...made, done }
}

const left = () =>
  queue.query<{ event: string; is_held: boolean }>(
    'select event, lease is not null as is_held from webhook_delivery order by event',
  )

test('outcomes of the first 2 ms are recorded together, and those that arrive meanwhile follow without a pause', async () => {
  const tasks = await taken(4)
  const [first, second, third, last] = tasks.map(returned)
  const meanwhile = [third!]
  const { add, idle, done } = recorder({
    recorded: () => {
      done.push('recorded')
      add(meanwhile.splice(0))
    },
  })
  add([first!])
  add([second!])
  await idle()
  const batch = ['webhook-release', 'recorded']
  expect(done.splice(0)).toEqual([2, ...batch, ...batch])
  add([last!])
  await idle()
  expect(done).toEqual([2, ...batch])
  expect(await left()).toEqual(tasks.map(({ event }) => ({ event, is_held: false })))
})

test.each<[kind: string, of: (task: Task) => Outcome, statements: string[], rest: object[]]>([
  ['returned', returned, ['webhook-release'], [{ is_held: false }, { is_held: true }]],
  ['dropped', dropped, ['webhook-drop'], [{ is_held: true }]],
  ['ended', ended, ['webhook-settle', 'webhook-health'], [{ is_held: true }]],
])('a task that is %s costs its own statements alone, and other tasks stay', async (_kind, of, statements, rest) => {
  const [task] = await taken(2)
  const { add, idle, done } = recorder()
  add([of(task!)])
  await idle()
  expect(done).toEqual([2, ...statements, 'recorded'])
  expect(await left()).toMatchObject(rest)
})

/** The warning that something could not be recorded. */
const unrecorded = (what: string, more: object = {}) => {
  const err = expect.objectContaining({ message: 'the database is away' })
  return expect.objectContaining({ level: 'warn', msg: `webhooks: could not record ${what}`, err, ...more })
}
const attempts = 'the outcome of attempts'

/** Fails the first time that a statement of this name runs. */
function failsOnce(wanted: string): (name: string) => void {
  const failures = [new Error('the database is away')]
  return name => {
    const failure = name === wanted && failures.pop()
    if (failure) throw failure
  }
}

test('attempts that cannot be recorded are tried again half a second later, unless their lease has ended', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const [fresh, late] = await taken(2)
  const { add, idle, done } = recorder({ before: failsOnce('webhook-settle') })
  const now = Date.now()
  add([ended(fresh!, { startedAt: new Date(now - 29_999) }), ended(late!, { startedAt: new Date(now - 30_000) })])
  await idle()
  expect(done).toEqual([
    ...[2, 'webhook-settle', unrecorded(attempts, { attempts: 2 }), 500],
    ...['webhook-settle', 'webhook-health', 'recorded'],
  ])
  expect(await left()).toEqual([{ event: late!.event, is_held: true }])
})

test('a process that stops leaves to others what it cannot record', async () => {
  const [task] = await taken(1)
  const { add, idle, done } = recorder({ before: failsOnce('webhook-settle'), isClosing: () => true })
  add([ended(task!)])
  await idle()
  expect(done).toEqual([2, 'webhook-settle', unrecorded(attempts, { attempts: 1 })])
  expect(await left()).toMatchObject([{ is_held: true }])
})

test('attempts are recorded though the health of their endpoints cannot be, which is logged', async () => {
  const [task] = await taken(1)
  const { add, idle, done } = recorder({ before: failsOnce('webhook-health') })
  add([ended(task!)])
  await idle()
  expect(done).toEqual([2, 'webhook-settle', 'webhook-health', unrecorded('the health of receivers'), 'recorded'])
  expect(await left()).toEqual([])
})

test('each endpoint that a batch gives up is passed on', async () => {
  const tasks = [...(await taken(1)), ...(await taken(1)), ...(await taken(1))]
  const gone = { outcome: 'failed', isGone: true } as const
  const givenUp: number[] = []
  const { add, idle } = recorder({ givenUp: async ({ key }) => void givenUp.push(key) })
  add([ended(tasks[0]!, gone), ended(tasks[1]!, gone), ended(tasks[2]!)])
  await idle()
  expect(givenUp.toSorted((a, b) => a - b)).toEqual([tasks[0]!.endpoint, tasks[1]!.endpoint])
})
