// Several servers at one address: connections go to the primary, wherever it is after a crash, a freeze or a change of roles.
import { beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { onCleanup } from '../support/cleanup.ts'
import { until } from '../support/process.ts'
import { addressOf, type PostgresServer, startPrimary, startStandby } from '../support/standby.ts'

let [one, two] = [] as unknown as [PostgresServer, PostgresServer]
let database: Database

beforeAll(async () => {
  one = await startPrimary()
  two = await startStandby(one)
  await one.query('create table kept (number int)')
  database = open([two, one])
})

function open(servers: readonly PostgresServer[], query = ''): Database {
  const opened = openDatabase(addressOf(servers, query), { poolSize: 2, statementTimeout: 20_000 })
  onCleanup(() => opened.end())
  return opened
}

const insert = (number: number) => ({ text: 'insert into kept values ($1)', values: [number] })

const unavailable = { code: 'UNAVAILABLE', options: { retryAfter: 2 } }

/** The port of the server that answers. */
async function answering(on = database): Promise<number> {
  const [row] = await on.query<{ port: number }>({
    text: `select current_setting('port')::int as port`,
    values: [],
  })
  return row!.port
}

const backAt = (server: PostgresServer, on = database): Promise<void> =>
  until(`${server.name} answers`, () =>
    answering(on).then(
      port => port === server.connection.port,
      () => false,
    ),
  )

test('connections go to the primary, in whichever order the servers are named', async () => {
  expect(await answering()).toBe(one.connection.port)
  expect(await answering(open([one, two], '?target_session_attrs=read-write'))).toBe(one.connection.port)
  await database.query(insert(1))
})

test('a single standby that is asked to be the primary is refused, and the reason says so', async () => {
  const refused = expect(answering(open([two], '?target_session_attrs=primary'))).rejects
  await refused.toMatchObject({
    ...unavailable,
    cause: { message: expect.stringMatching(/127\.0\.0\.1:\d+ is a standby/) },
  })
})

test('a server that has become read-only keeps no connection', async () => {
  await one.set('default_transaction_read_only', 'on')
  await until('the change is refused', () =>
    database.query(insert(2)).then(
      () => false,
      error => error.code === 'UNAVAILABLE',
    ),
  )
  await expect(database.query(insert(2))).rejects.toMatchObject(unavailable)
  await one.set('default_transaction_read_only', 'off')
  await backAt(one)
  await database.query(insert(2))
})

describe('after the primary was killed and its standby promoted', () => {
  const heard: (string | undefined)[] = []
  let before: number

  beforeAll(async () => {
    before = database.outages().count
    const { close } = await database.listen('news', payload => heard.push(payload))
    onCleanup(close)
    await one.kill()
    await expect(database.query(insert(0))).rejects.toMatchObject({ options: { retryAfter: expect.any(Number) } })
    await two.promote()
    await backAt(two)
  })

  test('statements, transactions and notifications go on there, and nothing is missing', async () => {
    await until('it listens', () => heard.includes(undefined))
    await database.transaction(async on => {
      await on.run(insert(3))
      await on.run({ text: `select pg_notify('news', 'promoted')`, values: [] })
    })
    await until('it is heard', () => heard.includes('promoted'))
    const rows = await database.query({ text: 'select number from kept where number > 0 order by 1', values: [] })
    expect(rows).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }])
  })

  test('the time without a primary was counted once', () => {
    const { count, seconds } = database.outages()
    expect(count).toBe(before + 1)
    expect(seconds).toBeGreaterThan(0)
  })

  test('the former primary is refused even if no other server is left', async () => {
    await one.restart()
    await two.kill()
    const refused = expect(database.query(insert(4))).rejects
    await refused.toMatchObject({ code: expect.stringMatching(/^UN/) })
    await until('the reason is the former primary', () =>
      database.query(insert(4)).then(
        () => false,
        error => /is a former primary \(timeline 1, the current one is 2\)/.test(error.cause?.message),
      ),
    )
    await two.restart()
    await backAt(two)
    await database.query(insert(4))
  })

  test('a change to a former primary that others still reach is cut off', async () => {
    await one.follow(two)
    const attached = open([two, one])
    expect(await answering(attached)).toBe(two.connection.port)
    await one.promote()
    await backAt(one, attached)
  })
})
