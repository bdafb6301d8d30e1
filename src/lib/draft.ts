// Files and folders that are there whole or not at all, also after a loss of power.
import { access, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Has a folder made under a name that ends in `.partial`, readable by its owner only, and gives it its name when `make` has written it
 * to disk. If `make` fails, nothing is left; if the process is killed, the draft is left, and the next one replaces it.
 * @throws Error if the folder exists.
 */
export async function inDraft<T>(folder: string, make: (draft: string) => Promise<T>): Promise<T> {
  const isThere = await access(folder)
    .then(() => true)
    .catch(() => false)
  if (isThere) throw new Error(`${folder} already exists.`)
  const draft = `${folder}.partial`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  try {
    const made = await make(draft)
    await syncFolder(draft)
    await rename(draft, folder)
    await syncFolder(dirname(folder))
    return made
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

/** Has the disk keep the names in a folder, which a sync of the files themselves does not. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle: FileHandle = await open(folder, 'r')
  await handle.sync()
}
