// A run of tests on a Citus cluster, CITUS_URL=postgresql://…, the address of its coordinator: databases are made on every node, and the tables of
// resources are distributed in each. docs/operations.md, "Several nodes".
import pg from 'pg'
import { inject } from 'vitest'
import { clusterOf, distribute } from '../../src/access/distribution.ts'
import type { Database } from '../../src/db/database.ts'

/** A node of the cluster. */
export interface Node {
  readonly host: string
  readonly port: number
  readonly user: string
}

/** True in a run on a cluster. What is skipped there is named in docs/operations.md, "Several nodes". */
export const isOnCluster = (): boolean => inject('server').nodes.length > 1

/** Parts of each table: more than nodes, so that statements meet several of them on one. */
const shards = 4

/** The nodes as the coordinator's database knows them, itself first. */
export async function nodesOf(url: string): Promise<[coordinator: Node, ...workers: Node[]]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(
      'select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 order by nodeid',
    )
    const user = client.user!
    return [{ host: client.host, port: client.port, user }, ...rows.map(({ host, port }) => ({ host, port, user }))]
  } finally {
    await client.end()
  }
}

/** Runs a command on the database `postgres` of each node. */
async function onEach(nodes: readonly Node[], commands: readonly string[], database = 'postgres'): Promise<void> {
  await Promise.all(
    nodes.map(async node => {
      const client = new pg.Client({ ...node, database })
      await client.connect()
      try {
        for (const command of commands) await client.query(command)
      } finally {
        await client.end()
      }
    }),
  )
}

/** Makes an empty database on every node, which knows the others. */
export async function createOn(nodes: readonly [Node, ...Node[]], database: string): Promise<void> {
  await onEach(nodes, [`create database ${database}`])
  await onEach(nodes, ['create extension citus'], database)
  const [coordinator, ...workers] = nodes
  const known = workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`)
  await onEach(
    [coordinator],
    [`select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`, ...known],
    database,
  )
}

/** Distributes the tables of a migrated database. */
export const distributeAll = (database: Database): Promise<void> =>
  database.transaction(async on => distribute(on, await clusterOf(on), shards))

/** Makes a template of a database: nobody connects to it any more, the extension's own process included. */
export async function closeTemplate(nodes: readonly Node[], database: string): Promise<void> {
  await onEach(nodes, [
    `alter database ${database} with is_template true allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${database}'`,
  ])
}

const prefix = 'test_of_'

/** What the names of a run's databases begin with. @param run its process id */
export const prefixOf = (run: number): string => `${prefix}${run}_`

/** Drops the databases of the runs that a condition names by their process ids. */
export async function dropDatabases(nodes: readonly Node[], isMeant: (run: number) => boolean): Promise<void> {
  for (const node of nodes) {
    const client = new pg.Client({ ...node, database: 'postgres' })
    await client.connect()
    const { rows } = await client.query('select datname as name from pg_database where starts_with(datname, $1)', [
      prefix,
    ])
    for (const { name } of rows.filter(row => isMeant(Number.parseInt(row.name.slice(prefix.length), 10)))) {
      await client.query(`alter database ${name} is_template false`)
      await dropNamed(client, name)
    }
    await client.end()
  }
}

/** Drops a database, to which a process of the extension may just be connecting again. */
export async function dropNamed(on: pg.Client, database: string): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await on.query(`drop database if exists ${database} with (force)`)
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== inUse || tries === 5) throw error
    }
}

/** SQLSTATE object_in_use. */
const inUse = '55006'
