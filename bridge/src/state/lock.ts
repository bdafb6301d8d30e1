// One agent per state folder: a lock that the operating system holds and frees when the process dies, however it dies.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Problem } from '../problem.ts'

export interface Lock {
  release(): void
}

/** Returns the lock of a state folder; undefined if another process has it. */
export function tryLock(folder: string): Lock | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // An open transaction of SQLite is a lock on the file: fcntl on Unix, LockFileEx on Windows. Nothing is written, not even a
  // journal, so that the lock can be had on a full disk.
  const file = new DatabaseSync(join(folder, 'agent.lock'), { timeout: 0 })
  try {
    file.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode === 5) return undefined
    throw error
  }
  return { release: () => file.close() }
}

/** @throws Problem if another agent runs on this folder. */
export function lock(folder: string): Lock {
  const got = tryLock(folder)
  if (!got)
    throw new Problem(
      `Another agent runs on ${folder}: stop it first, or give this one a state folder of its own ("state_folder" in its config file).`,
    )
  return got
}
