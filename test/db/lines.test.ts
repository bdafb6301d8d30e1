// Short statements of clients share connections: none waits long for another, and the end of one ends no other.
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clientClass } from '../../src/db/client-class.ts'
import { createCosts } from '../../src/db/costs.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { laneFor } from '../../src/db/lane.ts'
import { createLines, type Lines, type Sent } from '../../src/db/lines.ts'
import { createShared } from '../../src/db/shares.ts'
import { createCompany } from '../../src/lib/company.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

interface Slept {
  readonly pid: number
  readonly number: number
}

/** Sleeps in PostgreSQL, and gives the connection and the number. */
const sleep = (seconds: number, number = 0) => ({
  name: 'slept',
  text: 'select pg_backend_pid() as pid, $2::integer as number from (select pg_sleep($1::float8)) as pause',
  values: [seconds, number],
})

/** Connections that open as those of pg do. */
const Client = clientClass({ open: async (_, connect) => void (await connect()) })

let connection: TestDatabase
let database: Database

beforeEach(async () => {
  connection = await createTestDatabase()
  database = openDatabase(connection, { poolSize: 20, statementTimeout: 300_000 })
})

afterEach(() => database.end())

describe('a line', () => {
  let lines: Lines
  const opened = (idle?: number): Lines =>
    createLines(async () => {
      const { host, port, user, database: name } = connection
      const client = new Client({ host, port, user, database: name, pipeline: true } as pg.ClientConfig)
      await client.connect()
      return client
    }, idle)

  beforeEach(() => {
    lines = opened()
  })
  afterEach(() => lines.end())

  /** A line, once one is open. */
  async function free(of = lines) {
    let line: ReturnType<Lines['free']>
    await expect.poll(() => (line = of.free())).toBeDefined()
    return line!
  }

  /** Why the statement ended; it must not succeed. */
  const failure = ({ rows }: Sent<Slept>): Promise<unknown> =>
    rows.then(
      () => expect.unreachable('it succeeded'),
      (error: unknown) => error,
    )

  /** Waits until a statement that sleeps runs on this connection. */
  const running = (pid: number, text: string) =>
    expect
      .poll(
        () =>
          database.query({
            text: "select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep' and query like $2",
            values: [pid, text],
          }),
        { timeout: 20_000 },
      )
      .toHaveLength(1)

  test('answers statements in order, each by its own answer', async () => {
    const line = await free()
    const sent = [1, 2, 3, 4].map(number => line.send<Slept>(sleep(0, number), 1))
    const rows = await Promise.all(sent.map(each => each.rows))
    expect(rows.map(([row]) => row!.number)).toEqual([1, 2, 3, 4])
    expect(new Set(rows.map(([row]) => row!.pid)).size).toBe(1)
  })

  test('goes on after a statement that fails', async () => {
    const line = await free()
    const failing = line.send<Slept>({ text: "select 'x'::integer", values: [] }, 1)
    const next = line.send<Slept>(sleep(0, 7), 1)
    const error = await failure(failing)
    expect([(error as { code: string }).code, failing.isVictim(error)]).toEqual(['22P02', false])
    expect((await next.rows)[0]?.number).toBe(7)
  })

  test('ends what is not wanted any more, one after the other, and takes nothing more', async () => {
    const line = await free()
    const first = line.send<Slept>(sleep(600), 1)
    const second = line.send<Slept>({ ...sleep(600), name: 'second' }, 1)
    const ended = Promise.all([failure(first), failure(second)])
    first.cancel()
    second.cancel()
    const errors = await ended
    expect(errors.map(error => (error as { code: string }).code)).toEqual(['57014', '57014'])
    expect([first, second].map((each, index) => each.isVictim(errors[index]))).toEqual([false, false])
    expect(lines.states().used).toBe(0)
    expect((await (await free()).send<Slept>(sleep(0, 3), 1).rows)[0]?.number).toBe(3)
  })

  test('tells a statement that the late cancellation of another has ended', async () => {
    const line = await free()
    const [{ pid }] = (await line.send<Slept>(sleep(0), 1).rows) as [Slept]
    const unwanted = line.send<Slept>(sleep(600), 1)
    const behind = line.send<Slept>({ ...sleep(601), text: `${sleep(0).text} -- behind`, name: 'behind' }, 1)
    const [ended, met] = [failure(unwanted), failure(behind)]
    unwanted.cancel()
    await ended
    await running(pid, '%behind')
    await database.query({ text: 'select pg_cancel_backend($1::integer)', values: [pid] })
    expect(behind.isVictim(await met)).toBe(true)
  })

  test('tells a statement whose preparation was that of another, which failed', async () => {
    await database.query({ text: 'create table held (id integer)', values: [] })
    const line = await free()
    const [{ pid }] = (await line.send<Slept>(sleep(0), 1).rows) as [Slept]
    const held = { name: 'held', text: 'select pg_backend_pid() as pid, 1 as number from held', values: [] }
    const sent = await database.transaction(async on => {
      await on.query({ text: 'lock table held in access exclusive mode', values: [] })
      const both = [line.send<Slept>(held, 1), line.send<Slept>(held, 1)] as const
      const errors = both.map(failure)
      await expect
        .poll(
          () =>
            database.query({
              text: "select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'",
              values: [pid],
            }),
          { timeout: 20_000 },
        )
        .toHaveLength(1)
      await database.query({ text: 'select pg_cancel_backend($1::integer)', values: [pid] })
      return { both, errors }
    })
    const [own, other] = await Promise.all(sent.errors)
    expect((own as { code: string }).code).toBe('57014')
    expect([sent.both[0].isVictim(own), sent.both[1].isVictim(other)]).toEqual([false, true])
    expect(await line.send<Slept>(held, 1).rows).toEqual([])
  })

  test('is replaced when its connection breaks', async () => {
    const [{ pid }] = (await (await free()).send<Slept>(sleep(0), 1).rows) as [Slept]
    await database.query({ text: 'select pg_terminate_backend($1::integer)', values: [pid] })
    await expect.poll(() => lines.states()).toEqual({ used: 0, idle: 0 })
    const [row] = await (await free()).send<Slept>(sleep(0, 2), 1).rows
    expect([row!.number, row!.pid === pid]).toEqual([2, false])
  })

  test('closes when nobody uses it for long, and not before', async () => {
    const own = opened(400)
    const line = await free(own)
    const [row] = await line.send<Slept>(sleep(0.6, 1), 1).rows
    expect(row!.number).toBe(1)
    await expect.poll(() => own.states()).toEqual({ used: 0, idle: 0 })
    await free(own)
    await own.end()
  })
})

describe('statements of clients', () => {
  /** Sleeps for a client of its own, who leaves when the signal aborts. */
  async function slept(seconds: number, number = 0, signal = new AbortController().signal): Promise<Slept> {
    const [row] = await database.as({ who: `client ${number}`, signal }).query<Slept>(sleep(seconds, number))
    return row!
  }

  /** Has it known as a short statement. */
  const known = async (): Promise<void> => {
    for (let count = 0; count < 20; count++) await Promise.all([slept(0, 1), slept(0, 2)])
  }

  test('share a few connections, and each gets its own answer', async () => {
    const numbers = Array.from({ length: 18 }, (_, index) => index)
    const connections = async () => {
      const answers = await Promise.all(numbers.map(number => slept(0, number)))
      expect(answers.map(({ number }) => number)).toEqual(numbers)
      return new Set(answers.map(({ pid }) => pid)).size
    }
    await expect.poll(connections, { timeout: 50_000 }).toBeLessThan(9)
    expect(database.connections().find(({ pool }) => pool === 'lines')).toMatchObject({ used: 0, waiting: 0 })
  })

  test('end when their client has gone, and those behind them are answered', async () => {
    await known()
    const gone = new AbortController()
    const long = [slept(600, 1, gone.signal), slept(600, 2, gone.signal), slept(600, 3, gone.signal)]
    const waiting = [4, 5, 6, 7, 8].map(number => slept(0, number))
    const ended = Promise.allSettled(long)
    await new Promise(done => setTimeout(done, 50))
    const reason = new Error('gone')
    gone.abort(reason)
    expect(await ended).toEqual(long.map(() => ({ status: 'rejected', reason })))
    expect((await Promise.all(waiting)).map(({ number }) => number)).toEqual([4, 5, 6, 7, 8])
  })

  test('are repeated when the late cancellation of another ends them', async () => {
    const { host, port, user, database: name } = connection
    const pool = new pg.Pool({ host, port, user, database: name, Client })
    const met = Object.assign(new Error('canceling statement due to user request'), { code: '57014' })
    const sent = {
      rows: Promise.reject(met),
      took: () => 1,
      cancel: () => {},
      isVictim: (error: unknown) => error === met,
    }
    const lines: Lines = {
      free: () => ({ send: () => sent }),
      states: () => ({ used: 0, idle: 1 }),
      end: async () => {},
    }
    const costs = createCosts()
    costs.took('slept', 1, false)
    const shared = createShared(pool, lines, 4, { costs, company: createCompany() })
    const asking = { who: 'client', signal: new AbortController().signal }
    const lane = laneFor({ planned: shared, fixed: shared, layout: 'whole' }, async () => undefined, asking)
    expect(await lane.query<Slept>(sleep(0, 5))).toMatchObject([{ number: 5 }])
    await pool.end()
  })
})
