// Follows a folder while the service runs: reads it when the system reports a change, and at intervals in any case.

import { setTimeout as sleep } from 'node:timers/promises'
import { watchFolders } from './watch.ts'

export interface Follower {
  /** Resolves when no look is under way. */
  close(): Promise<void>
}

/**
 * Looks now and after every change, one look at a time. `look` returns the folders that exist now; it must not throw.
 * @param every milliseconds between looks without a report: network drives and some containers report nothing.
 */
export function follow(folder: string, every: number, look: () => Promise<readonly string[]>): Follower {
  let isClosed = false
  let pause = new AbortController()
  const loop = async (): Promise<void> => {
    for (let folders: readonly string[] = [folder]; !isClosed; ) {
      const changed = new AbortController()
      pause = changed
      // Watching begins before the look, so that no change in between is missed; and starts again each time, since a folder that
      // replaced another one is not watched.
      const unwatch = watchFolders(folders, () => changed.abort())
      const found = await look()
      if (found.join() === folders.join())
        await sleep(every, undefined, { signal: changed.signal, ref: false }).catch(() => {})
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
