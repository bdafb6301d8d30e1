// One embedded PostgreSQL for the whole run, and in it a migrated template that every test file copies.
import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { serverAccount } from '../../src/db/embedded-account.ts'
import { findBinaries, initialise } from '../../src/db/embedded-process.ts'
import { migrate } from '../../src/db/migrate.ts'
import { ensureDemoClient } from '../../src/identity/demo.ts'
import { ensureKeys } from '../../src/identity/keys.ts'
import { createLog } from '../../src/lib/log.ts'
import { intoParts } from './parts.ts'
import { isAlive } from './process.ts'
import { roomyFolder } from './roomy-folder.ts'

export interface TestServer {
  readonly host: string
  readonly port: number
  readonly user: string
  /** The folder of an empty cluster that no server has used. */
  readonly cluster: string
}

declare module 'vitest' {
  interface ProvidedContext {
    server: TestServer
  }
}

/** ENCRYPTION_KEY of every test service, so that signing keys and demo client come with the template. */
export const testKey = Buffer.alloc(32, 'test').toString('base64')

/**
 * What a crash of the machine would leave is nothing to this server, which lives as long as the run. Autovacuum would go round
 * hundreds of databases all the time, and tests of plans analyze what they look at. Each new database walks through all shared
 * buffers, twice.
 */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  shared_buffers: '128MB',
}

/** What the databases of a whole run need at most. */
const room = 8 * 2 ** 30

/**
 * Removes the folders of runs that were broken off, which name the process that they belonged to. Within a minute of losing
 * its lock file a server ends by itself.
 */
async function clearBrokenOff(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const [, run] = /^health-interop-test-(\d+)-/.exec(name) ?? []
    if (run && !isAlive(Number(run))) await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}

/** TEST_PARTS=8 runs all tests on tables that lie in eight parts. */
const parts = Number(process.env['TEST_PARTS'] ?? 0)

async function inPartsAt(server: { host: string; port: number; user: string }): Promise<void> {
  const client = new pg.Client({ ...server, database: 'template' })
  await client.connect()
  await intoParts(client, parts)
  await client.end()
}

/** Starts the server before the first test, and stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const parent of ['/dev/shm', tmpdir()]) await clearBrokenOff(parent)
  const folder = await roomyFolder(room)
  const cluster = join(folder, 'cluster')
  await initialise((await findBinaries()).initdb, cluster, await serverAccount(folder))
  await promisify(execFile)('cp', ['-a', cluster, join(folder, 'postgres')])
  const server = await startEmbedded(folder, 400, createLog('silent'), { settings })
  const { host, port, user } = server.connection
  const client = new pg.Client({ host, port, user, database: 'postgres' })
  await client.connect()
  await client.query('create database template')
  const database = openDatabase({ host, port, user, database: 'template' }, { poolSize: 2, statementTimeout: 30_000 })
  await migrate(database)
  await ensureKeys(database, Buffer.from(testKey, 'base64'), Date.now())
  await ensureDemoClient(database)
  await database.end()
  if (parts > 0) await inPartsAt({ host, port, user })
  await client.end()
  project.provide('server', { host, port, user, cluster })
  return async () => {
    await server.stop(0)
    await promisify(execFile)('rm', ['-rf', folder])
  }
}
