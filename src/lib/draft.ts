// Files and folders that are there whole or not at all, also after a loss of power.
import { access, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Has a folder made under a name that ends in `.partial`, readable by its owner only, and gives it its name when `make` has written it
 * to disk. If `make` fails, nothing is left; if the process is killed, the draft is left, and the next one replaces it.
 * @throws Error if the folder exists.
 */
export async function inDraft<T>(folder: string, make: (draft: string) => Promise<T>): Promise<T> {
  if (await exists(folder)) throw new Error(`${folder} already exists.`)
  return named(folder, async draft => {
    await mkdir(draft, { mode: 0o700 })
    const made = await make(draft)
    await syncFolder(draft)
    return made
  })
}

/** The same for a file, which `write` makes and has on disk when it resolves. One of that name is replaced. */
export const fileInDraft = (file: string, write: (draft: string) => Promise<void>): Promise<void> => named(file, write)

async function named<T>(path: string, make: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${path}.partial`
  await rm(draft, { recursive: true, force: true })
  try {
    const made = await make(draft)
    await rename(draft, path)
    await syncFolder(dirname(path))
    return made
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Has the disk keep the names in a folder, which a sync of the files themselves does not. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle: FileHandle = await open(folder, 'r')
  await handle.sync()
}
