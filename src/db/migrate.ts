// Brings the database to the version of the code: plain SQL files, run in order of their number, each once.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandsOf } from './commands.ts'
import type { Database } from './database.ts'

const folder = join(import.meta.dirname, 'migrations')
const lockKey = 4_215_002

/**
 * Runs the migrations that have not run yet, all in one transaction, one command a message; concurrent callers wait for each other.
 * @returns the names of the files that ran.
 * @throws Error if the database was migrated by a newer version of the code.
 */
export async function migrate(database: Database): Promise<string[]> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
  return database.transaction(async transaction => {
    await transaction.query({ text: 'select pg_advisory_xact_lock($1)', values: [lockKey] })
    await transaction.query({
      text: 'create table if not exists migration (name text primary key, ran_at timestamptz not null default now())',
      values: [],
    })
    const ran = new Set(
      (await transaction.query<{ name: string }>({ text: 'select name from migration', values: [] })).map(
        row => row.name,
      ),
    )
    const unknown = [...ran].filter(name => !files.includes(name))
    if (unknown.length > 0)
      throw new Error(`The database was migrated by a newer version (${unknown.join(', ')}): start that version.`)
    const due = files.filter(name => !ran.has(name))
    for (const name of due) {
      for (const text of commandsOf(await readFile(join(folder, name), 'utf8')))
        await transaction.run({ text, values: [] })
      await transaction.query({ text: 'insert into migration (name) values ($1)', values: [name] })
    }
    return due
  })
}
