// The tables of resources in hash parts by `shard`, as an engine distributes them: each index stands on each part without `shard`, and
// the directory stays whole (docs/decisions/0095-shard.md). A test server whose databases are made so shows what statements ask.
import type pg from 'pg'

/** The tables whose rows lie in buckets. */
export const inBuckets = ['resource', 'history', 'search', 'coded', 'span', 'word'] as const

/** Puts the tables of an empty, migrated database into parts. @param count how many */
export async function intoParts(client: pg.Client, count: number): Promise<void> {
  for (const table of inBuckets) {
    const { rows } = await client.query<{ indexdef: string }>('select indexdef from pg_indexes where tablename = $1', [
      table,
    ])
    await client.query(`alter table ${table} rename to whole`)
    await client.query(`create table ${table} (like whole including defaults) partition by hash (shard)`)
    const parts = Array.from({ length: count }, (_, remainder) => ({ name: `${table}_part${remainder}`, remainder }))
    for (const { name, remainder } of parts)
      await client.query(
        `create table ${name} partition of ${table} for values with (modulus ${count}, remainder ${remainder})`,
      )
    await client.query('drop table whole')
    for (const { indexdef } of rows) for (const { name } of parts) await client.query(onPart(indexdef, table, name))
    for (const { name } of parts)
      await client.query(
        `alter table ${name} alter column shard set (n_distinct = 1), alter column shard set statistics 1`,
      )
    await client.query(`alter table ${table} alter column shard set (n_distinct_inherited = 1)`)
  }
}

/** The definition of an index, for a part of its table. */
const onPart = (definition: string, table: string, part: string): string =>
  definition
    .replace(/index (\w+) on/i, (_all, index: string) => `index ${index.replace(table, part)} on`)
    .replace(new RegExp(`on public\\.${table}\\b`, 'i'), `on public.${part}`)

/** What each row must meet, by the table: its bucket is that of its row number, of its patient, and of the directory. */
const misplacements = [
  ...['resource', 'search', 'coded', 'span', 'word'].map(
    table => `select '${table}' from ${table} where shard <> key & 1023`,
  ),
  `select 'directory' from directory where shard <> key & 1023`,
  `select 'search of ' || self from search
    where shard <> coalesce(patient, case when subject in (0, 1) then self else subject end) & 1023`,
  `select 'directory without ' || r.id from resource r left join directory d using (type, id, shard, key) where d.key is null`,
  `select 'history of ' || h.id from history h left join directory d using (type, id, shard) where d.key is null`,
  ...['search', 'coded', 'span', 'word'].map(
    table =>
      `select '${table} without resource' from ${table} t left join resource r using (shard, key) where r.key is null`,
  ),
]

/** Rows that are not where they belong: none. */
export async function misplaced(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ what: string }>(
    `select * from (${misplacements.join(' union all ')}) as found(what)`,
  )
  return rows.map(({ what }) => what)
}
