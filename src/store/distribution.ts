// The tables of the store that an engine can distribute over nodes, by the bucket of each row (index/shard.ts), and what each of them
// needs before: docs/operations.md, "Several nodes".
import type { Layout, Queryable } from '../db/statement.ts'
import { ConfigError } from '../lib/config.ts'

/** A table that is distributed by its column `shard`; all parts of one bucket are on one node. */
export interface DistributedTable {
  readonly name: string
  /** Commands that give it the indexes that it needs there, and the identity by which a part can move to another node while rows change. */
  readonly prepare: readonly string[]
}

/** `name` is unique within the bucket instead of within the table, and tells rows apart. */
const uniqueInBucket = (table: string, name: string, columns: string): readonly string[] => [
  `drop index ${name}`,
  `create unique index ${name} on ${table} (shard, ${columns})`,
  `alter table ${table} replica identity using index ${name}`,
]

/** Rows without a unique index are identified by all of their columns. */
const toldByAll = (table: string): DistributedTable => ({
  name: table,
  prepare: [`alter table ${table} replica identity full`],
})

/** By which histories of several types are read in the order of time. */
const byTime = (table: string): string =>
  `create index ${table}_time on ${table} (updated_at desc, type desc, id desc, version desc)`

/** In the order in which they are distributed: the first decides where the buckets are. Row numbers are unique by their sequence, ids by the directory. */
export const distributedTables: readonly DistributedTable[] = [
  { name: 'resource', prepare: [...uniqueInBucket('resource', 'resource_key', 'key'), byTime('resource')] },
  {
    name: 'history',
    prepare: [...uniqueInBucket('history', 'history_version', 'type, id, version desc'), byTime('history')],
  },
  { name: 'search', prepare: uniqueInBucket('search', 'search_key', 'key') },
  ...['coded', 'span', 'word'].map(toldByAll),
]

/**
 * Checks that the setting says where the tables are. Statements for tables that are whole would fail on a cluster, or ask all of it.
 * @throws ConfigError that states what to do
 */
export async function mustHaveLayout(on: Queryable, layout: Layout): Promise<void> {
  if (layout === 'distributed') return
  const [engine] = await on.query<{ is_there: boolean }>({
    text: `select to_regclass('pg_dist_partition') is not null as is_there`,
    values: [],
  })
  if (!engine!.is_there) return
  const distributed = await on.query({
    text: `select 1 as found from pg_dist_partition where logicalrelid = $1::regclass`,
    values: [distributedTables[0]!.name],
  })
  if (distributed.length > 0)
    throw new ConfigError(
      'The tables of resources are distributed over several nodes: set DATABASE_LAYOUT=distributed.',
    )
}
