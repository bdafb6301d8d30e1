// The backups in a folder, and those that are kept.
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isSegment } from './archived.ts'
import { BackupError, type Manifest, readManifest } from './manifest.ts'

export interface ListedBackup {
  readonly folder: string
  /** Undefined: the manifest is damaged. */
  readonly manifest: Manifest | undefined
}

/** The backups in a folder, the oldest first. */
export async function backupsIn(folder: string): Promise<ListedBackup[]> {
  const names = (await readdir(folder)).filter(name => /^backup-\w+$/.test(name)).sort()
  return Promise.all(
    names.map(async name => {
      const path = join(folder, name)
      const manifest = await readManifest(path).catch(error => {
        if (!(error instanceof BackupError)) throw error
        return undefined
      })
      return { folder: path, manifest }
    }),
  )
}

/**
 * Removes all backups but the newest so many, and of the logs what none of these needs. Damaged ones are neither counted nor removed.
 * @returns the folders of the backups that are gone.
 */
export async function keepNewest(folder: string, count: number): Promise<string[]> {
  const whole = (await backupsIn(folder)).flatMap(({ manifest, ...rest }) => (manifest ? [{ ...rest, manifest }] : []))
  const [old, kept] = [whole.slice(0, -count), whole.slice(-count)]
  for (const each of old) {
    // Not even for a moment it looks whole without being it.
    await rename(each.folder, `${each.folder}.partial`)
    await rm(`${each.folder}.partial`, { recursive: true })
  }
  const logs = (await readdir(folder)).filter(name => /^log-[\w-]+$/.test(name))
  for (const log of logs) await shorten(join(folder, log), firstNeeded(log, kept))
  return old.map(each => each.folder)
}

function firstNeeded(log: string, kept: readonly { readonly manifest: Manifest }[]): string | undefined {
  const firsts = kept.filter(({ manifest }) => manifest.log === log).map(({ manifest }) => manifest.segments.first)
  return firsts.sort()[0]
}

/** Removes segments before the first one that is needed, whatever their timeline; the whole log if none is. */
async function shorten(log: string, first: string | undefined): Promise<void> {
  if (first === undefined) return rm(log, { recursive: true })
  const old = (await readdir(log)).filter(name => isSegment(name) && name.slice(8) < first.slice(8))
  for (const name of old) await rm(join(log, name))
}
