// What a backup holds, in its file manifest.json: a folder without one is no backup.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { CopiedFile } from '../../lib/copied-files.ts'
import type { BaseBackup } from '../base-backup.ts'

/** A backup cannot be made, or cannot be used; the message says why and what to do. */
export class BackupError extends Error {}

export interface Manifest {
  /** ISO 8601, like the other time. */
  readonly startedAt: string
  /** All that was committed by then is in it; it can be restored to moments after it. */
  readonly consistentAt: string
  readonly segments: BaseBackup['segments']
  readonly segmentBytes: number
  /** The folder beside that of the backup in which its log goes on; null: its log was not archived there. */
  readonly log: string | null
  /** All files but the manifest, by their paths in the folder of the backup. */
  readonly files: readonly CopiedFile[]
  readonly folders: readonly string[]
}

/** Where the data folder of the server is in a backup. */
export const databaseFolder = 'postgres'

/** The key of DATA_DIR, in the folder of a backup and in DATA_DIR. */
export const keyFile = 'encryption.key'

export const bytesOf = ({ files }: Manifest): number => files.reduce((sum, { bytes }) => sum + bytes, 0)

/** Writes the manifest to disk, which makes the folder a backup. */
export async function writeManifest(folder: string, backup: Manifest): Promise<void> {
  const text = `${JSON.stringify({ sha256: digest(backup), backup })}\n`
  await writeFile(join(folder, name), text, { flag: 'wx', mode: 0o600, flush: true })
}

/** @throws BackupError if the folder is no backup, or the manifest is not as it was written. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, name), 'utf8').catch(error => {
    throw new BackupError(`${folder} is not a backup: ${join(folder, name)} cannot be read (${error.code}).`)
  })
  const { sha256, backup } = parsed(text)
  if (
    !backup ||
    sha256 !== digest(backup) ||
    ![...backup.folders, ...backup.files.map(each => each.path)].every(isWithin)
  )
    throw new BackupError(`The backup ${folder} is damaged: its ${name} is not as it was written. Use another backup.`)
  return backup
}

const name = 'manifest.json'

const digest = (backup: Manifest): string => createHash('sha256').update(JSON.stringify(backup)).digest('hex')

function parsed(text: string): { sha256?: string; backup?: Manifest } {
  try {
    return (JSON.parse(text) as ReturnType<typeof parsed> | null) ?? {}
  } catch {
    return {}
  }
}

const isWithin = (path: string): boolean => !isAbsolute(path) && !path.split('/').includes('..')
