// Tells of changes in folders as soon as the system does; where it does not, a regular look has to find them.

import { type FSWatcher, watch } from 'node:fs'

/** Watches folders, not what is in folders within them. Returns what ends it. */
export function watchFolders(folders: readonly string[], changed: () => void): () => void {
  const watchers = folders.flatMap(folder => watcherOf(folder, changed))
  return () => {
    for (const each of watchers) each.close()
  }
}

/** Returns no watcher where the folder is gone, the file system reports no changes, or the system has no watches left. */
function watcherOf(folder: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, changed)
    return [watcher.on('error', changed)]
  } catch {
    return []
  }
}
