// Follows a folder while the service runs: looks at it when the system tells of a change, and now and then without being told.

import { setTimeout as sleep } from 'node:timers/promises'
import { watchFolders } from './watch.ts'

export interface Follower {
  /** Resolves when no look is going on any more. */
  close(): Promise<void>
}

/**
 * Looks now and after every change, one look at a time. `look` says which folders there are now; it must not throw.
 * @param every milliseconds between looks if nothing is told: network drives and some containers tell nothing.
 */
export function follow(folder: string, every: number, look: () => Promise<readonly string[]>): Follower {
  let isClosed = false
  let pause = new AbortController()
  const loop = async (): Promise<void> => {
    for (let folders: readonly string[] = [folder]; !isClosed; ) {
      const told = new AbortController()
      pause = told
      // Watching begins before the look, so nothing that happens meanwhile is missed; and anew each time, since a folder
      // that was put in the place of another one is not watched.
      const unwatch = watchFolders(folders, () => told.abort())
      const found = await look()
      if (found.join() === folders.join())
        await sleep(every, undefined, { signal: told.signal, ref: false }).catch(() => {})
      folders = found
      unwatch()
    }
  }
  const ended = loop()
  return {
    close() {
      isClosed = true
      pause.abort()
      return ended
    },
  }
}
