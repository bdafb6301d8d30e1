// A worker: it works when it is woken, by one at a time, and in its pace.
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { createWorker } from '../../src/webhooks/worker.ts'

const turn = () => new Promise<void>(done => setImmediate(done))

/** A worker whose work ends, and whose time passes, when the test says so. */
function held() {
  const clock = { now: 1000 }
  const begun: { end(isMore: boolean): void; fail(error: Error): void }[] = []
  const sleeps: { milliseconds: number; end(): void }[] = []
  const lines: Record<string, unknown>[] = []
  const worker = createWorker({
    work: () => new Promise((end, fail) => begun.push({ end, fail })),
    pace: () => 25,
    log: createLog('info', { write: line => void lines.push(JSON.parse(line)) }),
    now: () => clock.now,
    sleep: milliseconds => new Promise<void>(end => sleeps.push({ milliseconds, end })),
  })
  return { ...worker, clock, begun, sleeps, lines }
}

test('whoever is woken works once, at once, and rests for what is left of its pace', async () => {
  const { wake, begun, sleeps, clock } = held()
  expect(begun).toHaveLength(0)
  wake()
  expect(begun).toHaveLength(1)
  clock.now += 10
  begun[0]!.end(false)
  await turn()
  expect(sleeps).toMatchObject([{ milliseconds: 15 }])
  sleeps[0]!.end()
  await turn()
  expect(begun).toHaveLength(1)
  wake()
  clock.now += 40
  begun[1]!.end(false)
  await turn()
  expect(sleeps).toMatchObject([{ milliseconds: 15 }, { milliseconds: 0 }])
})

test('whoever wakes it while it works or rests has it work once more, not beside itself', async () => {
  const { wake, begun, sleeps } = held()
  wake()
  wake()
  wake()
  expect(begun).toHaveLength(1)
  begun[0]!.end(false)
  await turn()
  expect(begun).toHaveLength(1)
  sleeps[0]!.end()
  await turn()
  expect(begun).toHaveLength(2)
  begun[1]!.end(false)
  await turn()
  wake()
  sleeps[1]!.end()
  await turn()
  expect(begun).toHaveLength(3)
})

test('as long as there is more it does not rest', async () => {
  const { wake, begun, sleeps } = held()
  wake()
  for (const at of [0, 1, 2]) {
    begun[at]!.end(true)
    await turn()
  }
  expect([begun.length, sleeps.length]).toEqual([4, 0])
})

test('what fails is told to operators, and tried again when it is woken', async () => {
  const { wake, begun, lines } = held()
  wake()
  begun[0]!.fail(new Error('the database is away'))
  await turn()
  const msg = 'webhooks: could not poll for deliveries'
  expect(lines).toMatchObject([{ level: 'warn', msg, err: { message: 'the database is away' } }])
  expect(begun).toHaveLength(1)
  wake()
  expect(begun).toHaveLength(2)
})

test('it ends when its work has ended, whatever more there is, and is not woken any more', async () => {
  const { wake, close, begun, sleeps } = held()
  wake()
  const ends: string[] = []
  const closing = close().then(() => ends.push('closed'))
  await turn()
  expect(ends).toEqual([])
  begun[0]!.end(true)
  await closing
  wake()
  await turn()
  expect([begun.length, sleeps.length]).toEqual([1, 0])
  const idle = held()
  await idle.close()
  idle.wake()
  expect(idle.begun).toHaveLength(0)
})

test('it does not rest to the end of its pace when it is closed', async () => {
  let runs = 0
  const { wake, close } = createWorker({
    work: async () => ++runs < 0,
    pace: () => 3_600_000,
    log: createLog('silent'),
  })
  wake()
  await turn()
  wake()
  await close()
  expect(runs).toBe(1)
})

test('its pace is asked for after each run', async () => {
  const paces = [250, 25]
  const rests: number[] = []
  const { wake } = createWorker({
    work: async () => false,
    pace: () => paces.shift()!,
    log: createLog('silent'),
    now: () => 0,
    sleep: async milliseconds => void rests.push(milliseconds),
  })
  wake()
  await turn()
  expect([rests, paces]).toEqual([[250], [25]])
  wake()
  await turn()
  expect([rests, paces]).toEqual([[250, 25], []])
})
