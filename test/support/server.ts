// One embedded PostgreSQL for the whole run, and in it a migrated template that every test file copies.
import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { serverAccount } from '../../src/db/embedded-account.ts'
import { findBinaries, initialise } from '../../src/db/embedded-process.ts'
import { migrate } from '../../src/db/migrate.ts'
import { ensureDemoClient } from '../../src/identity/demo.ts'
import { ensureKeys } from '../../src/identity/keys.ts'
import { createLog } from '../../src/lib/log.ts'
import { closeTemplate, createOn, distributeAll, dropDatabases, type Node, nodesOf, prefixOf } from './citus.ts'
import { intoParts } from './parts.ts'
import { isAlive } from './process.ts'
import { roomyFolder } from './roomy-folder.ts'

export interface TestServer {
  readonly host: string
  readonly port: number
  readonly user: string
  /** The folder of an empty cluster that no server has used. */
  readonly cluster: string
  /** Servers on which each database has to be made: this one, and the workers of a Citus cluster. */
  readonly nodes: readonly Node[]
  /** What the names of databases begin with; `template` follows it in that of the migrated one. */
  readonly prefix: string
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
  const client = new pg.Client({ ...server, database: 'test_template' })
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
  const url = process.env['CITUS_URL']
  const stop = url ? await onCitus(project, url, cluster) : await onEmbedded(project, folder, cluster)
  return async () => {
    await stop()
    await promisify(execFile)('rm', ['-rf', folder])
  }
}

async function onEmbedded(project: TestProject, folder: string, cluster: string): Promise<() => Promise<void>> {
  const server = await startEmbedded(folder, 400, createLog('silent'), { settings })
  const { host, port, user } = server.connection
  const node = { host, port, user }
  const client = new pg.Client({ ...node, database: 'postgres' })
  await client.connect()
  await client.query('create database test_template')
  await client.end()
  await fillTemplate({ ...node, database: 'test_template' })
  if (parts > 0) await inPartsAt(node)
  project.provide('server', { ...node, cluster, nodes: [node], prefix: 'test_' })
  return () => server.stop(0)
}

async function onCitus(project: TestProject, url: string, cluster: string): Promise<() => Promise<void>> {
  const nodes = await nodesOf(url)
  await dropDatabases(nodes, run => !isAlive(run))
  const prefix = prefixOf(process.pid)
  const template = `${prefix}template`
  await createOn(nodes, template)
  await fillTemplate({ ...nodes[0], database: template }, distributeAll)
  await closeTemplate(nodes, template)
  project.provide('server', { ...nodes[0], cluster, nodes, prefix })
  return () => dropDatabases(nodes, run => run === process.pid)
}

async function fillTemplate(
  connection: { readonly database: string; readonly host: string; readonly port: number; readonly user: string },
  finish = async (_: Database): Promise<void> => {},
): Promise<void> {
  const database = openDatabase(connection, { poolSize: 2, statementTimeout: 60_000 })
  await migrate(database)
  await finish(database)
  await ensureKeys(database, Buffer.from(testKey, 'base64'), Date.now())
  await ensureDemoClient(database)
  await database.end()
}
