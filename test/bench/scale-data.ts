// The data of npm run bench -- scale: a data folder that grows from one number of resources to the next, and what it takes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createLog } from '../../src/lib/log.ts'
import { type Originals, readOriginals, sizeBefore, writeBundles } from './copies.ts'
import type { Rows } from './scale-figures.ts'

export interface ScaleData {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  /** Folder of the bundles that are copied. */
  readonly load: string
  /** Number of resources wanted. */
  readonly resources: number
}

/** Resources that are loaded at a time where the log is measured: the first right after a checkpoint, the last between two. */
const portion = 5000
const portions = 4

const tables = ['directory', 'resource', 'history', 'search', 'coded', 'span', 'word', 'term']

/** What a folder holds: bundles of the endless set, from its beginning. */
interface State {
  readonly bundles: number
}

/** Loads what is missing. Returns the number of resources, bytes of the log for a resource (none if nothing was loaded), and storage. */
export async function grow(data: ScaleData): Promise<{ count: number; log: Rows; storage: Rows }> {
  const { dataDir, load, resources } = data
  const originals = await readOriginals(load)
  const server = await startEmbedded(dataDir, 60, createLog('warn'))
  const database = openDatabase(server.connection, { poolSize: 2, statementTimeout: 0 })
  try {
    await migrate(database)
    const until = (size: number): number => {
      let place = stateOf(dataDir).bundles
      while (sizeBefore(originals, place) < size) place++
      return place
    }
    const measured = portion * portions
    await loadUntil(data, originals, until(resources - measured))
    const log: Record<string, readonly number[]> = {}
    if (stateOf(dataDir).bundles < until(resources)) await database.query({ text: 'checkpoint', values: [] })
    for (let left = portions - 1; left >= 0; left--) {
      const bytes = await logOf(database, originals, data, until(resources - left * portion))
      if (bytes === undefined) continue
      if (Object.keys(log).length === 0) log['right after a checkpoint'] = [bytes]
      else log[`after ${((portions - left) * portion).toLocaleString('en')} resources`] = [bytes]
    }
    process.stdout.write('vacuuming\n')
    await database.query({ text: `vacuum (analyze) ${tables.join(', ')}`, values: [] })
    const count = await countOf(database)
    return { count, log, storage: await storageOf(database, count) }
  } finally {
    await database.end()
    await server.stop()
  }
}

const statePath = (dataDir: string): string => join(dataDir, 'scale.json')

const stateOf = (dataDir: string): State =>
  existsSync(statePath(dataDir)) ? (JSON.parse(readFileSync(statePath(dataDir), 'utf8')) as State) : { bundles: 0 }

/** Loads bundles up to a place of the set, at most a copy at a time: what is interrupted is continued. */
async function loadUntil({ root, env, dataDir }: ScaleData, originals: Originals, place: number): Promise<void> {
  const folder = join(dataDir, 'copies')
  await mkdir(folder, { recursive: true })
  for (let from = stateOf(dataDir).bundles; from < place; ) {
    const until = Math.min(place, from + originals.bundles.length)
    const path = join(folder, `${from}.ndjson.gz`)
    await writeBundles(originals, from, until, path)
    process.stdout.write(`loading bundles ${from + 1} to ${until}\n`)
    const child = spawn(process.execPath, ['src/commands/load.ts', path], {
      ...{ cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] as const },
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0 && code !== 1) throw new Error(`loading ${path} failed`)
    await rm(path)
    writeFileSync(statePath(dataDir), JSON.stringify({ bundles: until } satisfies State))
    from = until
  }
}

/** Loads up to a place. Returns the bytes that each resource adds to the log; undefined if nothing was loaded. */
async function logOf(
  database: Database,
  originals: Originals,
  data: ScaleData,
  place: number,
): Promise<number | undefined> {
  const before = { bytes: await logBytes(database), place: stateOf(data.dataDir).bundles }
  if (before.place >= place) return undefined
  await loadUntil(data, originals, place)
  const size = sizeBefore(originals, place) - sizeBefore(originals, before.place)
  return ((await logBytes(database)) - before.bytes) / size
}

async function logBytes(database: Database): Promise<number> {
  const text = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`
  return (await database.query<{ bytes: number }>({ text, values: [] }))[0]!.bytes
}

async function countOf(database: Database): Promise<number> {
  return (await database.query<{ count: number }>({ text: 'select count(*) from resource', values: [] }))[0]!.count
}

/** MB, and bytes a resource, of each table without its indexes, of each index, of the FHIR tables together, and of all. */
async function storageOf(database: Database, count: number): Promise<Rows> {
  const found = await database.query<{ name: string; bytes: number }>({
    text: `select name, bytes::float8 from (
        select c.relname::text as name, pg_table_size(c.oid) as bytes, c.relname as owner, 1 as place
        from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
        union all
        select '– ' || i.indexrelid::regclass, pg_relation_size(i.indexrelid), i.indrelid::regclass::text, 2
        from pg_index i join pg_class c on c.oid = i.indrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      ) relations where bytes >= $1 order by owner, place, bytes desc`,
    values: [count],
  })
  const sums = await database.query<{ name: string; bytes: number }>({
    text: `select 'FHIR tables with indexes' as name, sum(pg_total_relation_size(of::regclass))::float8 as bytes from unnest($1::text[]) as of
      union all select 'the database', pg_database_size(current_database())::float8`,
    values: [tables],
  })
  return Object.fromEntries([...found, ...sums].map(({ name, bytes }) => [name, [bytes / 1e6, bytes / count]]))
}

/** The last row number, before anything is measured that writes. */
export async function lastKey(database: Database): Promise<number> {
  const text = 'select coalesce(max(key), 0) as key from resource'
  return (await database.query<{ key: number }>({ text, values: [] }))[0]!.key
}

/** Takes out what the workloads have created since, so that the next number of resources is one of people again. */
export async function forget(database: Database, key: number, since: Date): Promise<void> {
  for (const table of ['search', 'coded', 'span', 'word', 'resource', 'directory'])
    await database.query({ text: `delete from ${table} where key > $1`, values: [key] })
  await database.query({ text: 'delete from history where updated_at >= $1', values: [since] })
  await database.query({
    text: `with gone as (
        delete from person p where not exists (select from search s where s.self = p.self) returning self
      )
      delete from person_posting where self in (select self from gone)`,
    values: [],
  })
}
