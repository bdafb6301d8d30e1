// PostgreSQL knows how much each table holds: after a great load, and while an empty database fills up.
import { expect, inject, test, vi } from 'vitest'
import { system } from '../../src/access/caller.ts'
import { openStorage } from '../../src/app/storage.ts'
import { createLog } from '../../src/lib/log.ts'
import { vacuumRegister } from '../../src/mpi/register/vacuum.ts'
import { vacuumResources } from '../../src/store/statistics.ts'
import type { TransactionEntry } from '../../src/store/transaction.ts'
import { dataSetAt } from '../support/base.ts'
import { onCleanup } from '../support/cleanup.ts'
import { configOfRun, createTestDatabase, openTestDatabase } from '../support/database.ts'

test('after a great load the tables of resources and of people are analysed', async () => {
  const database = await openTestDatabase()
  await database.query({
    text: 'insert into person_posting (posting, self) select n, n from generate_series(1, 7) n',
    values: [],
  })
  await vacuumResources(database)
  await vacuumRegister(database)
  const text = `select relname, reltuples from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    and relname = any($1) order by relname`
  const tables = ['coded', 'directory', 'person', 'person_posting', 'resource', 'search', 'span', 'term', 'word']
  const rows = await database.query<{ relname: string; reltuples: number }>({ text, values: [tables] })
  // PostgreSQL has -1 for a table that was never vacuumed or analysed.
  expect(rows.map(({ relname, reltuples }) => [relname, reltuples])).toEqual(
    tables.map(table => [table, table === 'person_posting' ? 7 : 0]),
  )
})

test('the tables are analysed once a thousand changes have filled them, and not again before they have grown by several times', async () => {
  const connection = { ...inject('server'), ...(await createTestDatabase()) }
  const storage = openStorage(
    configOfRun(),
    connection,
    dataSetAt('http://localhost'),
    createLog('silent'),
    Buffer.alloc(32),
  )
  onCleanup(() => storage.database.end())
  const fill = (count: number) =>
    storage.storeFor(system).transaction(
      Array.from({ length: count }, () => creation),
      () => expect.fail(),
    )
  const analyses = async () => {
    const [row] = await storage.database.query<{ times: number; rows: number }>({
      text: `select t.analyze_count as times, c.reltuples as rows from pg_stat_user_tables t join pg_class c on c.oid = t.relid where t.relname = 'directory'`,
      values: [],
    })
    return row
  }
  await fill(900)
  expect(await analyses()).toMatchObject({ times: 0 })
  await fill(200)
  await vi.waitFor(async () => expect(await analyses()).toEqual({ times: 1, rows: 1100 }), 10_000)
  await fill(1000)
  expect(await analyses()).toMatchObject({ times: 1 })
})

const creation: TransactionEntry = {
  ...{ method: 'POST', type: 'Basic', fullUrl: undefined, id: undefined, query: undefined },
  resource: { resourceType: 'Basic', code: { text: 'filling' } },
}
