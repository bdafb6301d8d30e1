// The archive of the embedded database's log, from which a backup is recovered to a later moment. PostgreSQL's own module writes it:
// https://www.postgresql.org/docs/18/basic-archive.html
import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import { exists, fileInDraft, syncFolder } from '../lib/draft.ts'
import { type Account, EmbeddedError } from './embedded-account.ts'

/** Where the log is kept, and how soon. */
export interface Archive {
  /** Holds backups, too; it must exist when a log begins. */
  readonly folder: string
  /** After so many seconds a segment is archived though it is not full. */
  readonly seconds: number
}

/**
 * The settings of a server that archives its log; none without an archive. A log is the log of one database folder without a gap: a
 * folder that is new, restored, or was used without an archive begins another one, with a folder of its own.
 * @throws EmbeddedError if a log is to begin and the folder of the archive does not exist.
 */
export async function archiveSettings(
  dataDir: string,
  archive: Archive | undefined,
  account: Account | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (!archive) {
    await endLog(dataDir)
    return {}
  }
  const known = await logOf(dataDir)
  // Where its disk is not mounted PostgreSQL keeps the log itself, and archives it later.
  const log = known && dirname(known) === archive.folder ? known : await beginLog(dataDir, archive.folder, account)
  return {
    archive_mode: 'on',
    archive_library: 'basic_archive',
    'basic_archive.archive_directory': log,
    archive_timeout: `${archive.seconds}s`,
  }
}

/** What follows in this folder is no continuation of its log: the next server that archives begins another one. */
export const endLog = (dataDir: string): Promise<void> => rm(nameFile(dataDir), { force: true })

/** The folder to which a server archives its log; undefined: it does not. */
export async function archiveFolderOf(on: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await on.query(
    `select current_setting('basic_archive.archive_directory', true) as folder where current_setting('archive_mode') = 'on'`,
  )
  return rows[0]?.folder || undefined
}

/** Names the log of the folder. */
const nameFile = (dataDir: string): string => join(dataDir, 'archived-log')

async function logOf(dataDir: string): Promise<string | undefined> {
  const text = await readFile(nameFile(dataDir), 'utf8').catch(error => {
    if (error.code !== 'ENOENT') throw error
    return ''
  })
  return text.trim() || undefined
}

async function beginLog(dataDir: string, folder: string, account: Account | undefined): Promise<string> {
  if (!(await exists(folder)))
    throw new EmbeddedError(`BACKUP_DIR ${folder} does not exist: create it, or mount the disk that it is on.`)
  // No two logs share a folder, whichever databases they are of.
  const log = join(folder, `log-${stamp(new Date())}-${randomBytes(4).toString('hex')}`)
  await mkdir(log, { mode: 0o700 })
  if (account) await chown(log, account.uid, account.gid)
  await syncFolder(folder)
  await fileInDraft(nameFile(dataDir), draft => writeFile(draft, `${log}\n`, { mode: 0o600, flush: true }))
  return log
}

/** A moment as the name of a folder: `20261123T081514497Z`. */
export const stamp = (at: Date): string => at.toISOString().replaceAll(/[-:.]/g, '')
