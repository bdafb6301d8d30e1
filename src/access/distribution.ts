// Distributes the tables of resources over the nodes of a cluster (Citus), once: docs/operations.md, "Several nodes".
import type { Queryable, Transaction } from '../db/statement.ts'
import { distributedTables } from '../store/distribution.ts'

/** Tables of which every node has a copy, because searches read them on each node. */
const copiedTables = ['consent_grant']

/** What a distribution does to a table. */
export interface TablePlan {
  readonly name: string
  /** How the rows are divided: by `shard`, or as a copy on each node. */
  readonly way: 'shard' | 'copy'
  readonly isDone: boolean
  /** Bytes on this server, indexes included. */
  readonly bytes: number
  readonly hasRows: boolean
}

/** The cluster as the coordinator knows it. */
export interface Cluster {
  /** Version of the extension; undefined: the database does not have it. */
  readonly citus: string | undefined
  /** Workers that take rows. */
  readonly workers: number
  /** Nodes that are out of use, or do not answer, as `host:port`. */
  readonly failing: readonly string[]
  /** True if the workers know how to reach this server. */
  readonly isCoordinator: boolean
  /** Connections of running services. */
  readonly services: number
  readonly tables: readonly TablePlan[]
}

const tables = [
  ...distributedTables.map(({ name }) => ({ name, way: 'shard' as const })),
  ...copiedTables.map(name => ({ name, way: 'copy' as const })),
]

/** Reads the state of the cluster. In a transaction of the one connection that the caller has open: others count as services. */
export async function clusterOf(on: Transaction): Promise<Cluster> {
  const [found] = await on.query<{ citus: string | null; services: number }>({
    text: `select (select extversion from pg_extension where extname = 'citus') as citus,
      (select count(*)::integer from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and application_name like 'health-interop, schema %') as services`,
    values: [],
  })
  if (!found?.citus)
    return {
      citus: undefined,
      workers: 0,
      failing: [],
      isCoordinator: false,
      services: 0,
      tables: await plansOf(on, false),
    }
  const nodes = await on.query<{ name: string; groupid: number; isactive: boolean; shouldhaveshards: boolean }>({
    text: `select nodename || ':' || nodeport as name, groupid, isactive, shouldhaveshards from pg_dist_node order by nodeid`,
    values: [],
  })
  return {
    citus: found.citus,
    workers: nodes.filter(each => each.groupid !== 0 && each.isactive && each.shouldhaveshards).length,
    failing: nodes.filter(each => !each.isactive).map(each => each.name),
    isCoordinator: nodes.some(each => each.groupid === 0),
    services: found.services,
    tables: await plansOf(on, true),
  }
}

async function plansOf(on: Queryable, isCitus: boolean): Promise<TablePlan[]> {
  const done = isCitus
    ? await on.query<{ name: string }>({
        text: 'select logicalrelid::regclass::text as name from pg_dist_partition',
        values: [],
      })
    : []
  const plans: TablePlan[] = []
  for (const { name, way } of tables) {
    const [size] = await on.query<{ bytes: number; has_rows: boolean }>({
      text: `select pg_total_relation_size('${name}') as bytes, exists (select 1 from ${name}) as has_rows`,
      values: [],
    })
    plans.push({
      name,
      way,
      isDone: done.some(each => each.name === name),
      bytes: size!.bytes,
      hasRows: size!.has_rows,
    })
  }
  return plans
}

/**
 * Distributes what is not distributed yet, rows included: all or nothing, as long as the transaction commits.
 * @param shards parts of each table, over all workers
 * @throws the errors of the database, if a node cannot be reached
 */
export async function distribute(on: Transaction, { tables: plans }: Cluster, shards: number): Promise<void> {
  const [first] = distributedTables
  const due = plans.filter(each => !each.isDone)
  for (const { name, way } of due) {
    const { prepare = [] } = distributedTables.find(table => table.name === name) ?? {}
    for (const text of prepare) await on.query({ text, values: [] })
    const text =
      way === 'copy'
        ? 'select create_reference_table($1::regclass)'
        : name === first!.name
          ? `select create_distributed_table($1::regclass, 'shard', shard_count => $2::integer)`
          : `select create_distributed_table($1::regclass, 'shard', colocate_with => '${first!.name}')`
    await on.query({ text, values: name === first!.name ? [name, shards] : [name] })
  }
  for (const { name } of due.filter(each => each.hasRows))
    await on.query({ text: 'select truncate_local_data_after_distributing_table($1::regclass)', values: [name] })
}
