// A consistent copy of the data folder of a PostgreSQL that runs on this machine, which can be started by itself:
// https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type CopiedFile, copyFile, digestOf, forEachFile } from '../lib/copied-files.ts'
import { inDraft, syncFolder } from '../lib/draft.ts'
import type { Connection } from './database.ts'
import { segmentsBetween } from './log-segments.ts'

/** What was copied. */
export interface BaseBackup {
  /** The clock of the server: the copy has all that was committed by then, and can be recovered to moments after it. */
  readonly consistentAt: Date
  /** The first and the last segment of the log that belong to the copy, which holds them. */
  readonly segments: { readonly first: string; readonly last: string }
  readonly segmentBytes: number
  readonly files: readonly CopiedFile[]
  /** All folders below the copy, those before that hold others; empty ones are needed, too. */
  readonly folders: readonly string[]
}

/**
 * Copies the data folder of the server to `to`, while it is used. The log from the beginning to the end of the copy is in it, kept
 * meanwhile by a replication slot that ends with the session. The copy appears under its name when all of it is on disk.
 * @param connection of a superuser, to a server whose files this process may read.
 * @throws Error if the server has tablespaces, if the connection is lost, and if a file cannot be read or written; then nothing is left.
 */
export async function copyRunning(connection: Connection, to: string): Promise<BaseBackup> {
  const session = new pg.Client({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    application_name: 'health-interop backup',
    connectionTimeoutMillis: 10_000,
  })
  // A backup ends with its session: the next statement says that it is lost.
  session.on('error', () => {})
  await session.connect()
  try {
    return await inDraft(to, draft => copyTo(session, draft))
  } finally {
    await session.end()
  }
}

async function copyTo(session: pg.Client, to: string): Promise<BaseBackup> {
  const { folder, segmentBytes } = await begin(session)
  const found: Found = { files: [], folders: [] }
  await findBelow(folder, '', found)
  for (const path of found.folders) await mkdir(join(to, path), { mode: 0o700 })
  const copied = await copyAll(found.files, folder, to)
  // Last, as pg_basebackup does: without it no server starts on a copy that is not finished.
  const control = await copyFile(join(folder, controlFile), join(to, controlFile))
  if (!control) throw new Error(`${join(folder, controlFile)} does not exist.`)
  const { label, last, consistentAt } = await end(session)
  const first = firstSegment(label)
  const log = await copyLog(folder, to, segmentsBetween(first, last, segmentBytes))
  const labelled = await writeLabel(label, to)
  for (const path of found.folders) await syncFolder(join(to, path))
  const files = [...copied, { path: controlFile, ...control }, ...log, labelled]
  return { consistentAt, segments: { first, last }, segmentBytes, files, folders: found.folders }
}

/** Has the server keep its log from here on, and begin with a checkpoint from which the copy is recovered. */
async function begin(session: pg.Client): Promise<{ folder: string; segmentBytes: number }> {
  const { rows } = await session.query(
    `select current_setting('data_directory') as folder, s.setting::bigint::text as bytes,
      (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces
      from pg_settings s where s.name = 'wal_segment_size'`,
  )
  const { folder, bytes, tablespaces } = rows[0]
  if (tablespaces > 0) throw new Error('The server has tablespaces, which this copy does not include.')
  const name = `health_interop_backup_${randomBytes(6).toString('hex')}`
  await session.query('select pg_create_physical_replication_slot($1, true, true)', [name])
  await session.query('select pg_backup_start($1, true)', [name])
  return { folder, segmentBytes: Number(bytes) }
}

/** Ends the backup: what is copied is consistent once the log up to here is replayed. */
async function end(session: pg.Client): Promise<{ label: string; last: string; consistentAt: Date }> {
  const clock = await session.query('select clock_timestamp() as at')
  const { rows } = await session.query(
    `select labelfile as label, spcmapfile as tablespaces, pg_walfile_name(lsn - 1) as last from pg_backup_stop(false)`,
  )
  const { label, tablespaces, last } = rows[0]
  if (tablespaces?.trim()) throw new Error('A tablespace was created during the copy, which does not include it.')
  return { label, last, consistentAt: clock.rows[0].at }
}

const controlFile = 'global/pg_control'

/** Folders that are empty in a copy: what they hold is made anew at the start, or belongs to the server that was copied. */
const emptied = new Set([
  ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'],
  'log',
])

const leftOut = new Set([
  ...['postmaster.pid', 'postmaster.opts', 'backup_label', 'tablespace_map', 'backup_manifest'],
  ...['current_logfiles', 'current_logfiles.tmp', 'postgresql.auto.conf.tmp', controlFile],
])

const isLeftOut = (path: string, name: string): boolean =>
  leftOut.has(path) || name.startsWith('pgsql_tmp') || name.startsWith('pg_internal.init')

interface Found {
  readonly files: string[]
  /** Those before that hold others. */
  readonly folders: string[]
}

async function findBelow(from: string, below: string, found: Found): Promise<void> {
  for (const entry of await entriesOf(join(from, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (isLeftOut(path, entry.name)) continue
    // The log may lie elsewhere, behind a link.
    if (!entry.isDirectory() && !emptied.has(path)) found.files.push(path)
    else {
      found.folders.push(path)
      if (!emptied.has(path)) await findBelow(from, path, found)
    }
  }
}

/** Copies the files that are still there: what a table that was dropped leaves out, the log leaves out, too. */
async function copyAll(paths: readonly string[], from: string, to: string): Promise<CopiedFile[]> {
  const copied: CopiedFile[] = []
  await forEachFile(paths, async path => {
    const file = await copyFile(join(from, path), join(to, path))
    if (file) copied.push({ path, ...file })
  })
  return copied
}

/** What a folder holds; nothing if it was removed, as the folder of a database may be. */
function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch(error => {
    if (error.code !== 'ENOENT') throw error
    return []
  })
}

/** `START WAL LOCATION: 0/9000028 (file 000000010000000000000009)` */
function firstSegment(label: string): string {
  const [, name] = /^START WAL LOCATION: .*\(file ([0-9A-F]{24})\)/m.exec(label) ?? []
  if (name) return name
  throw new Error('The label of the backup names no segment of the log.')
}

/** Copies these segments, which are complete since the server began another, and the histories of former timelines. */
async function copyLog(folder: string, to: string, segments: readonly string[]): Promise<CopiedFile[]> {
  const histories = (await readdir(join(folder, 'pg_wal'))).filter(name => name.endsWith('.history'))
  const paths = [...histories, ...segments].map(name => `pg_wal/${name}`)
  const copied = await copyAll(paths, folder, to)
  const missing = paths.find(path => !copied.some(each => each.path === path))
  if (missing) throw new Error(`The server no longer has ${missing}, which the copy needs.`)
  return copied
}

async function writeLabel(label: string, to: string): Promise<CopiedFile> {
  const path = 'backup_label'
  await writeFile(join(to, path), label, { flag: 'wx', mode: 0o600, flush: true })
  return { path, ...digestOf(Buffer.from(label)) }
}
