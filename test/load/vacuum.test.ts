// What the loader does after a great load: PostgreSQL knows how much each table holds.
import { expect, test } from 'vitest'
import { vacuumRegister } from '../../src/mpi/register/vacuum.ts'
import { vacuumResources } from '../../src/store/statistics.ts'
import { openTestDatabase } from '../support/database.ts'

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
