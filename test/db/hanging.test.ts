// A server that accepts connections and never answers: nothing waits for it for long, whether another takes its place or not.
import { beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { withoutLimit } from '../../src/db/silence.ts'
import { onCleanup } from '../support/cleanup.ts'
import { until } from '../support/process.ts'
import { addressOf, type PostgresServer, startPrimary, startStandby } from '../support/standby.ts'

let [one, two] = [] as unknown as [PostgresServer, PostgresServer]

beforeAll(async () => {
  one = await startPrimary()
  two = await startStandby(one)
  await one.query('create table kept (number int)')
})

function open(connection: string | PostgresServer['connection'], statementTimeout = 60_000): Database {
  const opened = openDatabase(connection, { poolSize: 2, statementTimeout })
  onCleanup(() => opened.end())
  return opened
}

const read = { text: 'select count(*)::int as count from kept', values: [] }
const insert = (number: number) => ({ text: 'insert into kept values ($1)', values: [number] })

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    error => error.code,
  )

test('statements on a server that hangs fail long before their limit, and go on when it answers again', async () => {
  const database = open(one.connection)
  await Promise.all([database.query(read), database.query(insert(1)), database.transaction(on => on.query(insert(2)))])
  const slow = database.query({ text: 'select pg_sleep(5)', values: [] })
  const heard: unknown[] = []
  await database.listen('news', payload => heard.push(payload))
  // A statement that takes long on a server that answers is left alone.
  await slow
  await one.freeze()
  const asked = [database.query(read), database.query(insert(3)), database.transaction(on => on.query(insert(4)))]
  expect(await Promise.all(asked.map(failure))).toEqual(['UNAVAILABLE', 'UNCONFIRMED', 'UNAVAILABLE'])
  one.thaw()
  await until('it answers', async () => (await failure(database.query(read))) === undefined)
  await until('it listens', () => heard.includes(undefined))
})

test('a statement whose transaction lifts the limit may be silent for longer', async () => {
  const database = open(one.connection, 500)
  const slow = database.transaction(async on => {
    await on.query(withoutLimit)
    return on.query({ text: 'select 1 as one from pg_sleep(4)', values: [] })
  })
  expect(await slow).toEqual([{ one: 1 }])
})

test('when another server becomes the primary, nothing waits for the one that hangs', async () => {
  const database = open(addressOf([one, two]))
  await database.query(insert(5))
  await two.catchUp(one)
  await one.freeze()
  const hanging = failure(database.query(read))
  await two.promote()
  expect(await hanging).toBe('UNAVAILABLE')
  await until('changes are accepted', async () => (await failure(database.query(insert(6)))) === undefined)
  const rows = await database.query({ text: 'select number from kept where number > 4 order by 1', values: [] })
  expect(rows).toEqual([{ number: 5 }, { number: 6 }])
  one.thaw()
  await one.query(insert(7).text.replace('$1', '7'))
  await database.query(insert(8))
  expect(await database.query({ text: 'select from kept where number = 7', values: [] })).toEqual([])
})
