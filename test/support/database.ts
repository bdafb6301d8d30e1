// A database for a test file that needs no service.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { Layout } from '../../src/db/statement.ts'
import { type Config, readConfig } from '../../src/lib/config.ts'
import { dropNamed, type Node } from './citus.ts'
import { onCleanup } from './cleanup.ts'

export interface TestDatabase {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

/** Creates an empty, migrated database, on every node. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { host, port, user, nodes, prefix } = inject('server')
  const database = `${prefix}${randomBytes(6).toString('hex')}`
  // Files are copied in a third of the time that copying block by block takes, which logs each of them.
  await onAll(nodes, `create database ${database} template ${prefix}template strategy file_copy`)
  // A process of the extension stays connected to each database of a cluster, on each node.
  if (nodes.length > 1) onCleanup(() => dropOn(nodes, database))
  return { host, port, user, database }
}

const onAll = async (nodes: readonly Node[], command: string): Promise<void> =>
  void (await Promise.all(nodes.map(async node => (await creatorOf(node)).query(command))))

/** The coordinator comes first: what it has open on the workers ends with it. */
async function dropOn(nodes: readonly Node[], database: string): Promise<void> {
  for (const node of nodes) await dropNamed(await creatorOf(node), database)
}

/** The connections of this process that create databases: they end with the process. */
const creators = new Map<number, Promise<pg.Client>>()

function creatorOf(node: Node): Promise<pg.Client> {
  const known = creators.get(node.port) ?? connected(node)
  creators.set(node.port, known)
  return known
}

async function connected(node: Node): Promise<pg.Client> {
  const client = new pg.Client({ ...node, database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Opens an empty, migrated database, which closes after the file's last test. @param poolSize connections of each pool */
export async function openTestDatabase(poolSize = 2): Promise<Database> {
  const database = openDatabase(await createTestDatabase(), {
    poolSize,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  onCleanup(() => database.end())
  return database
}

/** The layout of a run: tables in parts are asked as if these lay on several nodes. */
export const layoutOfRun = (): Layout =>
  inject('server').nodes.length > 1 || process.env['TEST_PARTS'] ? 'distributed' : 'whole'

/** The settings of a service or command of the run. */
export const configOfRun = (): Config => readConfig({ DATABASE_LAYOUT: layoutOfRun() })
