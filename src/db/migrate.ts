// Brings the database to the version of the code: plain SQL files, run in order of their number, each once. A file whose name begins
// with `NNNN-expand-` adds only what versions before it do not notice: they can run beside it (docs/decisions/0093-upgrades.md).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandsOf } from './commands.ts'
import type { Database } from './database.ts'
import { migrations, migrationsIn, numberOf, schemaOf } from './schema.ts'
import type { Queryable, Transaction } from './statement.ts'

const lockKey = 4_215_002

export interface Migrated {
  /** The names of the files that ran. */
  readonly ran: readonly string[]
  /** Those that a newer version has run, beside which this one can run. */
  readonly newer: readonly string[]
}

export interface MigrateOptions {
  /** Of the files; absent: that of this version. */
  readonly folder?: string
  /** Milliseconds to wait for the end of older versions' connections, and for locks on tables that are in use; absent: 30 s. */
  readonly patience?: number
}

/**
 * Runs the migrations that have not run yet, all in one transaction, one command a message; concurrent callers wait for each other.
 * Requests that use the tables meanwhile wait at most a second for it.
 * @throws Error if a newer version has run a migration beside which this one cannot run; if one that is due changes what older
 *   versions use, and connections of these do not end; if a table stays in use for too long.
 */
export async function migrate(
  database: Database,
  { folder = migrations, patience = 30_000 }: MigrateOptions = {},
): Promise<Migrated> {
  const files = migrationsIn(folder)
  const end = performance.now() + patience
  for (;;) {
    try {
      return await database.transaction(on => migrateIn(on, folder, files, end))
    } catch (error) {
      if (!isLockTaken(error) || performance.now() > end) throw error
      // Statements that waited behind this one have their turn.
      await sleep(pause)
    }
  }
}

/** Milliseconds for which a migration waits for a table, since all others that need the table wait behind it. */
const longestWait = 1000

/** Milliseconds between two attempts. */
const pause = 1000

/** Milliseconds between two looks for connections of older versions. */
const lookEvery = 200

/** True for a migration that versions before it do not notice. */
const isExpanding = (name: string): boolean => /^\d{4}-expand-/.test(name)

const isLockTaken = (error: unknown): boolean => (error as { code?: unknown }).code === '55P03'

async function migrateIn(on: Transaction, folder: string, files: readonly string[], end: number): Promise<Migrated> {
  await on.query({ text: 'select pg_advisory_xact_lock($1)', values: [lockKey] })
  await on.query({ text: `set local lock_timeout = ${longestWait}`, values: [] })
  await on.query({
    text: 'create table if not exists migration (name text primary key, ran_at timestamptz not null default now())',
    values: [],
  })
  const rows = await on.query<{ name: string }>({ text: 'select name from migration order by name', values: [] })
  const ran = new Set(rows.map(row => row.name))
  const newer = [...ran].filter(name => !files.includes(name))
  const barring = newer.filter(name => !isExpanding(name))
  if (barring.length > 0)
    throw new Error(`The database was migrated by a newer version (${barring.join(', ')}): start that version.`)
  const due = files.filter(name => !ran.has(name))
  const noticed = due.find(name => !isExpanding(name))
  if (noticed !== undefined && ran.size > 0) await olderEnded(on, noticed, end)
  for (const name of due) {
    for (const text of commandsOf(await readFile(join(folder, name), 'utf8'))) await on.run({ text, values: [] })
    await on.query({ text: 'insert into migration (name) values ($1)', values: [name] })
  }
  return { ran: due, newer }
}

/** Resolves when no process of a version before the migration is connected. @throws Error if one stays. */
async function olderEnded(on: Queryable, migration: string, end: number): Promise<void> {
  for (;;) {
    const [found] = await on.query<{ count: number }>({ text: olderText, values: [numberOf(migration)] })
    if (found!.count === 0) return
    if (performance.now() > end)
      throw new Error(
        `The migration ${migration} changes what the running version uses, and ${found!.count} connections of that version are open: stop all of its processes, and start this one again.`,
      )
    await sleep(lookEvery)
  }
}

// A transaction sees the connections of its first look, unless that is forgotten.
const olderText = `select count(*)::integer as count from pg_stat_clear_snapshot(), pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and ${schemaOf('application_name')} < $1`
