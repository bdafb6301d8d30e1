// A change whose commit nobody has confirmed is neither a success nor a failure, and is said to be neither.
import { beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { Transactional } from '../../src/db/statement.ts'
import { onCleanup } from '../support/cleanup.ts'
import { until } from '../support/process.ts'
import { type PostgresServer, startPrimary } from '../support/standby.ts'
import { startWire, type Wire } from '../support/wire.ts'

let server: PostgresServer
let wire: Wire
let database: Database

beforeAll(async () => {
  server = await startPrimary()
  await server.query('create table kept (name text primary key)')
  wire = await startWire(server.connection.port)
  database = openTo({ ...server.connection, port: wire.port })
})

function openTo(connection: PostgresServer['connection'], statementTimeout = 10_000): Database {
  const opened = openDatabase(connection, { poolSize: 2, statementTimeout })
  onCleanup(() => opened.end())
  return opened
}

const insert = (name: string) => ({ text: 'insert into kept values ($1)', values: [name] })

const names = async (): Promise<unknown[]> =>
  (await server.query('select name from kept order by name')).map(row => row['name'])

const unconfirmed = { code: 'UNCONFIRMED', options: { retryAfter: 2 } }
const unavailable = { code: 'UNAVAILABLE' }

const inLane = (): Transactional => database.as({ who: 'client', signal: new AbortController().signal })

test.each([
  ['a statement', 'single', () => database.query(insert('single'))],
  ['a statement without a result', 'run', () => database.run(insert('run'))],
  ['a statement of a client', 'lane', () => inLane().query(insert('lane'))],
])('%s that stored something and whose answer is lost is unconfirmed', async (_, name, store) => {
  const lost = wire.loseAnswerTo(name)
  await expect(store()).rejects.toMatchObject(unconfirmed)
  await lost
  await until('it is stored', async () => (await names()).includes(name))
})

test('a transaction whose commit is lost is unconfirmed, and what was to follow it does not happen', async () => {
  const followed: string[] = []
  const lost = wire.loseAnswerTo('commit')
  const work = database.transaction(async on => {
    await on.query(insert('transaction'))
    on.afterwards(() => followed.push('told'))
  })
  await expect(work).rejects.toMatchObject(unconfirmed)
  await lost
  await until('it is stored', async () => (await names()).includes('transaction'))
  expect(followed).toEqual([])
})

test('so is one whose statements are lost together with its commit', async () => {
  const lost = wire.loseAnswerTo('together')
  const work = database.transaction(async on => {
    await on.run(insert('together'))
  })
  await expect(work).rejects.toMatchObject(unconfirmed)
  await lost
})

test('a statement before the commit whose answer is lost has stored nothing', async () => {
  const lost = wire.loseAnswerTo('before')
  const work = database.transaction(async on => {
    await on.query(insert('before'))
    await on.query(insert('never'))
  })
  await expect(work).rejects.toMatchObject(unavailable)
  await lost
  expect(await names()).not.toContain('before')
})

const read = { text: 'select $1::text as lost', values: ['something'] }

test.each([
  ['a read', () => database.query(read)],
  ['a read of a client', () => inLane().query(read)],
])('%s whose answer is lost is retried, up to three times', async (_, work) => {
  const lost = wire.loseAnswerTo('something', 3)
  expect(await work()).toEqual([{ lost: 'something' }])
  await lost
  const lostAgain = wire.loseAnswerTo('something', 4)
  await expect(work()).rejects.toMatchObject(unavailable)
  await lostAgain
})

test('a transaction that PostgreSQL has ended before its commit has failed', async () => {
  const work = database.transaction(async on => {
    const [{ pid }] = (await on.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid', values: [] })) as [
      { pid: number },
    ]
    await on.query(insert('ended'))
    await server.query('select pg_terminate_backend($1, 5000)', [pid])
  })
  await expect(work).rejects.toMatchObject(unavailable)
  expect(await names()).not.toContain('ended')
})

test('a transaction that goes on after a failed statement is not taken for committed', async () => {
  const work = database.transaction(async on => {
    await on.query(insert('rolled back'))
    await on.query({ text: 'select 1 / 0', values: [] }).catch(() => {})
  })
  await expect(work).rejects.toThrow('rolled back')
  expect(await names()).not.toContain('rolled back')
})

/** Waits for commits that wait for a standby. */
async function waiting(count: number): Promise<void> {
  const text = `select from pg_stat_activity where wait_event = 'SyncRep'`
  await until('commits wait for a standby', async () => (await server.query(text)).length === count)
}

test('a commit is unconfirmed if its wait for a synchronous standby is cancelled', async () => {
  await server.set('synchronous_standby_names', 'nobody')
  const changes = [
    database.query(insert('alone')),
    inLane().query(insert('alone, of a client')),
    database.transaction(on => on.query(insert('alone, in a transaction'))),
  ]
  const results = Promise.allSettled(changes)
  await waiting(3)
  await server.query(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`)
  for (const result of await results) expect(result).toMatchObject({ status: 'rejected', reason: unconfirmed })
  expect(await names()).toEqual(expect.arrayContaining(['alone', 'alone, of a client', 'alone, in a transaction']))
  await server.set('synchronous_standby_names', '')
})

test('a commit that waits for a standby takes not much longer than a statement may', async () => {
  await server.set('synchronous_standby_names', 'nobody')
  const impatient = openTo(server.connection, 500)
  const changes = [impatient.transaction(on => on.query(insert('waits'))), impatient.query(insert('waits alone'))]
  for (const result of await Promise.allSettled(changes))
    expect(result).toMatchObject({ status: 'rejected', reason: unconfirmed })
  await server.set('synchronous_standby_names', '')
  expect(await impatient.query({ text: 'select 1 as one', values: [] })).toEqual([{ one: 1 }])
})
