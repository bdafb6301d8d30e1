// One embedded PostgreSQL for the whole run, and in it a migrated template that every test file copies.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { ensureDemoClient } from '../../src/auth/demo.ts'
import { ensureKeys } from '../../src/auth/keys.ts'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createLog } from '../../src/lib/log.ts'

export interface TestServer {
  readonly host: string
  readonly port: number
  readonly user: string
}

declare module 'vitest' {
  interface ProvidedContext {
    server: TestServer
  }
}

/** ENCRYPTION_KEY of every test service, so that signing keys and demo client come with the template. */
export const testKey = Buffer.alloc(32, 'test').toString('base64')

/** Starts the server before the first test, and stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'health-interop-test-'))
  const server = await startEmbedded(folder, 400, createLog('silent'))
  const { host, port, user } = server.connection
  const client = new pg.Client({ host, port, user, database: 'postgres' })
  await client.connect()
  // What a crash of the machine would leave is nothing to this server, which lives as long as the run.
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await client.query(`alter system set ${setting} = off`)
  await client.query('select pg_reload_conf()')
  await client.query('create database template')
  const database = openDatabase({ host, port, user, database: 'template' }, { poolSize: 2, statementTimeout: 30_000 })
  await migrate(database)
  await ensureKeys(database, Buffer.from(testKey, 'base64'), Date.now())
  await ensureDemoClient(database)
  await database.end()
  await client.end()
  project.provide('server', { host, port, user })
  return async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
