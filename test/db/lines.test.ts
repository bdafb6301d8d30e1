// Short statements of clients share connections: none waits long for another, and the end of one ends no other.
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { createLines } from '../../src/db/lines.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: Database
/** Of the service itself, on connections of its own. */
let other: Database
let controllers: AbortController[]
let connection: TestDatabase

beforeEach(async () => {
  connection = await createTestDatabase()
  database = openDatabase(connection, { poolSize: 20, statementTimeout: 300_000 })
  other = openDatabase(connection, { poolSize: 1, statementTimeout: 300_000 })
  controllers = []
  // The statement is known to be short before it is used.
  for (let count = 0; count < 20; count++) await Promise.all([slept(0), slept(0)])
})

afterEach(() => Promise.all([database.end(), other.end()]))

interface Slept {
  readonly pid: number
  readonly number: number
}

/** Sleeps in PostgreSQL, for a client of its own. @returns on which connection, and the number */
async function slept(seconds: number, number = 0): Promise<Slept> {
  const controller = new AbortController()
  controllers.push(controller)
  const lane = database.as({ who: `client ${controllers.length}`, signal: controller.signal })
  const [row] = await lane.query<Slept>({
    name: 'slept',
    text: 'select pg_backend_pid() as pid, $2::integer as number from (select pg_sleep($1::float8)) as pause',
    values: [seconds, number],
  })
  return row!
}

const lines = () => database.connections().find(({ pool }) => pool === 'lines')!

test('many at once share two connections, and each gets its own answer', async () => {
  const numbers = Array.from({ length: 18 }, (_, index) => index)
  const answers = await Promise.all(numbers.map(number => slept(0, number)))
  expect(answers.map(({ number }) => number)).toEqual(numbers)
  expect(new Set(answers.map(({ pid }) => pid)).size).toBeLessThan(10)
  expect(lines()).toEqual({ pool: 'lines', used: 0, idle: 2, waiting: 0 })
})

test('the statement of a client that has gone is ended; those that waited for it are answered', async () => {
  const before = controllers.length
  const long = slept(600)
  const waiting = [1, 2, 3, 4, 5].map(number => slept(0, number))
  await new Promise(done => setTimeout(done, 50))
  expect(lines().used).toBeGreaterThan(0)
  const reason = new Error('gone')
  controllers[before]!.abort(reason)
  await expect(long).rejects.toBe(reason)
  expect((await Promise.all(waiting)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
  expect((await slept(0, 6)).number).toBe(6)
})

test('one that waits for its turn on a line is not run for a client that has gone', async () => {
  const before = controllers.length
  const first = slept(0.4, 1)
  const second = slept(0.4, 2)
  const unwanted = slept(600)
  await new Promise(done => setTimeout(done, 20))
  const reason = new Error('gone')
  controllers[before + 2]!.abort(reason)
  await expect(unwanted).rejects.toBe(reason)
  expect([(await first).number, (await second).number]).toEqual([1, 2])
})

test('a cancellation that arrives late ends a statement of another client, which is repeated', async () => {
  const before = controllers.length
  const pids = new Set((await Promise.all([0, 0, 0, 0].map(() => slept(0)))).map(({ pid }) => pid))
  const long = [slept(600), slept(600)]
  const waiting = [1, 2, 3].map(number => slept(0.5, number))
  await new Promise(done => setTimeout(done, 20))
  for (const controller of controllers.slice(before + 4, before + 6)) controller.abort(new Error('gone'))
  expect((await Promise.allSettled(long)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const late = { text: 'select pg_cancel_backend(pid) from unnest($1::int[]) as line(pid)', values: [[...pids]] }
  await other.query(late)
  expect((await Promise.all(waiting)).map(({ number }) => number)).toEqual([1, 2, 3])
})

test('a line whose connection breaks is replaced', async () => {
  const { pid } = await slept(0)
  await other.query({ text: 'select pg_terminate_backend($1)', values: [pid] })
  await expect.poll(() => lines().idle).toBeLessThan(2)
  expect((await Promise.all([1, 2, 3, 4].map(number => slept(0, number)))).map(({ number }) => number)).toEqual([
    1, 2, 3, 4,
  ])
  await expect.poll(() => slept(0).then(() => lines().idle)).toBe(2)
})

test('a line that nobody uses closes, and opens again when it is needed', async () => {
  const { host, port, user, database: name } = connection
  const open = async () => {
    const client = new pg.Client({ host, port, user, database: name, pipeline: true } as pg.ClientConfig)
    await client.connect()
    return client
  }
  const own = createLines(open, 400)
  let line: ReturnType<typeof own.free>
  const free = () => (line = own.free())
  await expect.poll(free).toBeDefined()
  const sent = line!.send<{ one: number }>({ text: 'select 1 as one, pg_sleep(0.6)', values: [] }, 1)
  expect((await sent.rows)[0]?.one).toBe(1)
  await expect.poll(() => own.states(), { timeout: 10_000 }).toEqual({ used: 0, idle: 0 })
  await expect.poll(free).toBeDefined()
  await own.end()
})
