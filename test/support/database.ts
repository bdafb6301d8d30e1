// A database for a test file that needs no service.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { onCleanup } from './cleanup.ts'
import type { TestServer } from './server.ts'

export interface TestDatabase {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

/** Creates an empty, migrated database. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('server')
  const database = `test_${randomBytes(6).toString('hex')}`
  const client = await (creator ??= connected(server))
  // Files are copied in a third of the time that copying block by block takes, which logs each of them.
  await client.query(`create database ${database} template template strategy file_copy`)
  return { ...server, database }
}

/** The connection of this process that creates databases: it ends with the process. */
let creator: Promise<pg.Client> | undefined

async function connected(server: TestServer): Promise<pg.Client> {
  const client = new pg.Client({ ...server, database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Opens an empty, migrated database, which closes after the file's last test. @param poolSize connections of each pool */
export async function openTestDatabase(poolSize = 2): Promise<Database> {
  const database = openDatabase(await createTestDatabase(), { poolSize, statementTimeout: 10_000 })
  onCleanup(() => database.end())
  return database
}
