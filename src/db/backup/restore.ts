// Restores a backup into a data folder of the service: checked file by file, recovered, and only then put in its place.
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { copyFile, forEachFile } from '../../lib/copied-files.ts'
import { exists, inDraft, syncFolder } from '../../lib/draft.ts'
import { giveFolder, serverAccount } from '../embedded-account.ts'
import { runningServer } from '../embedded-server.ts'
import { endLog, stamp } from '../log-archive.ts'
import { reachOf } from './archived.ts'
import { BackupError, databaseFolder, keyFile, type Manifest, readManifest } from './manifest.ts'
import { recover } from './recover.ts'

export interface Restore {
  /** The folder of the backup. */
  readonly from: string
  /** The DATA_DIR in which the service will find the database. */
  readonly dataDir: string
  /** As in `Recovery`. */
  readonly until: string | undefined
  /** A database that is there already is renamed, instead of being a reason to refuse. */
  readonly movesAside: boolean
}

export interface Restored {
  readonly manifest: Manifest
  /** Where the database is now that was there before. */
  readonly aside: string | undefined
  /** When the last change was committed that the database has, if one was after the backup began. */
  readonly lastChangeAt: Date | undefined
  /** The key of the backup is in the folder. */
  readonly hasKey: boolean
}

/**
 * Restores a backup. Until it is whole, nothing is changed in the folder; if it fails, nothing is left.
 * @throws BackupError if the folder is in use or holds a database, or if the backup is damaged or does not reach the moment.
 */
export async function restoreBackup({ from, dataDir, until, movesAside }: Restore): Promise<Restored> {
  const manifest = await readManifest(from)
  if (until !== undefined && Date.parse(until) < Date.parse(manifest.consistentAt))
    throw new BackupError(
      `The backup can be restored to ${manifest.consistentAt} or later: for ${until} use an older one.`,
    )
  await mustBeFree(dataDir, movesAside)
  const key = await keyFor(from, dataDir, manifest)
  const log = await logFor(from, manifest, until)
  const created = await mkdir(dataDir, { recursive: true })
  try {
    const account = await serverAccount(dataDir, log.log)
    const lastChangeAt = await inDraft(join(dataDir, restored), async draft => {
      await copyBack(from, draft, manifest)
      if (account) await giveFolder(draft, account)
      return recover(draft, { ...log, until }, account)
    })
    if (key === 'missing') await copyFile(join(from, keyFile), join(dataDir, keyFile))
    return { manifest, aside: await place(dataDir), lastChangeAt, hasKey: key !== undefined }
  } catch (error) {
    if (created) await rm(created, { recursive: true, force: true })
    throw error
  }
}

const restored = 'postgres-restored'
const inUse = 'postgres'

/** @throws BackupError */
async function mustBeFree(dataDir: string, movesAside: boolean): Promise<void> {
  for (const name of [inUse, `${restored}.partial`]) {
    const server = await runningServer(join(dataDir, name))
    if (server)
      throw new BackupError(
        `A database server (process ${server.pid}) runs in ${join(dataDir, name)}: stop the service, or choose another --data-dir.`,
      )
  }
  if (!movesAside && (await exists(join(dataDir, inUse))))
    throw new BackupError(`${dataDir} holds a database: choose another --data-dir, or have it renamed by --move-aside.`)
  // Of a restore that was killed between its last two steps.
  await rm(join(dataDir, restored), { recursive: true, force: true })
}

/** Whether the key of the backup is to be restored; undefined: it has none. @throws BackupError */
async function keyFor(from: string, dataDir: string, { files }: Manifest): Promise<'missing' | 'there' | undefined> {
  if (!files.some(({ path }) => path === keyFile)) return undefined
  const present = join(dataDir, keyFile)
  if (!(await exists(present))) return 'missing'
  if ((await readFile(present)).equals(await readFile(join(from, keyFile)))) return 'there'
  throw new BackupError(`${present} is not the key of the backup: move it away first.`)
}

/** @throws BackupError if the log cannot be read, or is not whole although all of it is wanted. */
async function logFor(from: string, manifest: Manifest, until: string | undefined) {
  const reach = await reachOf(from, manifest).catch(error => {
    throw new BackupError(`The log of the backup cannot be read: ${(error as Error).message}`)
  })
  if (reach.missing && until === undefined)
    throw new BackupError(
      `The log has a gap: segment ${reach.missing} is missing in ${reach.log}. Put it back, or restore to a --time before ${reach.archivedAt?.toISOString() ?? manifest.consistentAt}.`,
    )
  return reach
}

/** Copies the data folder back. @throws BackupError for the first file that is not as it was copied. */
async function copyBack(from: string, to: string, { files, folders }: Manifest): Promise<void> {
  const within = (path: string): string => join(to, path.slice(databaseFolder.length))
  for (const path of folders) await mkdir(within(path), { recursive: true, mode: 0o700 })
  await forEachFile(files, async ({ path, bytes, sha256 }) => {
    const target = path === keyFile ? undefined : within(path)
    const copied = await copyFile(join(from, path), target)
    if (copied?.bytes === bytes && copied.sha256 === sha256) return
    const what = copied ? 'is not as it was copied' : 'is missing'
    throw new BackupError(`The backup is damaged: ${join(from, path)} ${what}. Use another backup.`)
  })
  for (const path of folders) await syncFolder(within(path))
}

/** Gives the restored database its place. @returns where the one is that was there. */
async function place(dataDir: string): Promise<string | undefined> {
  await endLog(dataDir)
  const aside = join(dataDir, `postgres-before-${stamp(new Date())}`)
  const isThere = await exists(join(dataDir, inUse))
  if (isThere) await rename(join(dataDir, inUse), aside)
  await rename(join(dataDir, restored), join(dataDir, inUse))
  await syncFolder(dataDir)
  return isThere ? aside : undefined
}
