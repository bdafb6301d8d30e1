// A log that was written before its values had a table of their own is searched as before.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { findRequests } from '../../src/requests/search.ts'
import { onCleanup } from '../support/cleanup.ts'
import { migrationsBefore } from '../support/former-schema.ts'

/** A database of the schema before. */
async function formerDatabase(): Promise<Database> {
  const { prefix, ...server } = inject('server')
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  const client = new pg.Client({ ...server, database: 'postgres' })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const database = openDatabase({ ...server, database: name }, { poolSize: 2, statementTimeout: 60_000 })
  onCleanup(() => database.end())
  await migrate(database, { folder: await migrationsBefore(39) })
  return database
}

test('requests of before are found by organisation, client, route, status and error, alone and together', async () => {
  const database = await formerDatabase()
  await database.query({
    text: `insert into request_log values
      ('019b0000-1000-7000-8000-000000000001', 'old-1', 'laboratory', 'hospital-a', 'GET', '/first', '', 200, '', 1, 0, 0),
      ('019b0000-2000-7000-8000-000000000002', 'old-2', 'laboratory', 'hospital-a', 'GET', '/second', '', 403, 'FORBIDDEN', 1, 0, 0),
      ('019b0001-0000-7000-8000-000000000003', 'old-3', 'ward', 'hospital-b', 'GET', '/first', '', 404, 'NOT_FOUND', 1, 0, 0)`,
    values: [],
  })
  await migrate(database)
  const found = async (organization: string | undefined, filter = {}) =>
    (await findRequests(database, organization, filter, { limit: 10 })).map(each => each.requestId)
  expect(await found('hospital-a')).toEqual(['old-2', 'old-1'])
  expect(await found(undefined, { clientId: 'ward' })).toEqual(['old-3'])
  expect(await found(undefined, { route: '/first' })).toEqual(['old-3', 'old-1'])
  expect(await found(undefined, { statusClass: 4 })).toEqual(['old-3', 'old-2'])
  expect(await found('hospital-a', { statusClass: 4 })).toEqual(['old-2'])
  expect(await found('hospital-a', { errorCode: 'FORBIDDEN', route: '/second' })).toEqual(['old-2'])
  expect(await found('hospital-b', { requestId: 'old-3' })).toEqual(['old-3'])
  expect(await found('hospital-b', { clientId: 'laboratory' })).toEqual([])
})
