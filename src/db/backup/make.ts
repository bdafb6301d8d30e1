// Makes a backup of the embedded database while it is used: its data folder, and the key where that is a file.
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { copyFile } from '../../lib/copied-files.ts'
import { inDraft } from '../../lib/draft.ts'
import { copyRunning } from '../base-backup.ts'
import type { Connection } from '../database.ts'
import { archiveFolderOf, stamp } from '../log-archive.ts'
import { BackupError, databaseFolder, keyFile, type Manifest, writeManifest } from './manifest.ts'

export interface MadeBackup {
  readonly folder: string
  readonly manifest: Manifest
}

/**
 * Makes a backup in a new folder of `to`. It has its name only when all of it is on disk; what a killed process left there unfinished is
 * removed.
 * @param keyFrom the folder whose key belongs into the backup; undefined: the key is kept elsewhere.
 * @throws BackupError if another backup of this database is being made.
 */
export async function makeBackup(
  connection: Exclude<Connection, string>,
  to: string,
  keyFrom: string | undefined,
): Promise<MadeBackup> {
  const session = new pg.Client({ ...connection, application_name: 'health-interop backup lock' })
  session.on('error', () => {})
  await session.connect()
  try {
    await mustBeTheOnlyOne(session)
    for (const name of await readdir(to))
      if (/^backup-\w+\.partial$/.test(name)) await rm(join(to, name), { recursive: true })
    const log = await archiveFolderOf(session)
    const startedAt = new Date()
    const folder = join(to, `backup-${stamp(startedAt)}`)
    const manifest = await inDraft(folder, async draft => {
      const filled = await fill(draft, connection, keyFrom)
      const made = {
        startedAt: startedAt.toISOString(),
        ...filled,
        log: log && dirname(log) === to ? basename(log) : null,
      }
      await writeManifest(draft, made)
      return made
    })
    return { folder, manifest }
  } finally {
    await session.end()
  }
}

/** Any number that other locks do not have: migrations, which every command runs, must not wait for a backup. */
const lockKey = 4_215_028

async function mustBeTheOnlyOne(session: pg.Client): Promise<void> {
  const { rows } = await session.query('select pg_try_advisory_lock($1) as taken', [lockKey])
  if (!rows[0].taken) throw new BackupError('Another backup of this database is being made: wait until it is finished.')
}

async function fill(
  draft: string,
  connection: Connection,
  keyFrom: string | undefined,
): Promise<Omit<Manifest, 'startedAt' | 'log'>> {
  const key = keyFrom && (await copyFile(join(keyFrom, keyFile), join(draft, keyFile)))
  const { consistentAt, segments, segmentBytes, files, folders } = await copyRunning(
    connection,
    join(draft, databaseFolder),
  )
  const below = (path: string): string => `${databaseFolder}/${path}`
  return {
    consistentAt: consistentAt.toISOString(),
    ...{ segments, segmentBytes },
    files: [...files.map(file => ({ ...file, path: below(file.path) })), ...(key ? [{ path: keyFile, ...key }] : [])],
    folders: [databaseFolder, ...folders.map(below)],
  }
}
