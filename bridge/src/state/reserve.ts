// Room on the disk that is kept for the way out: when other programs fill the disk, what is sent can still be taken off the queue,
// and the agent can still start. Inputs never get it.
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes that are kept. */
const reserveBytes = 4 * 1048576

const fileIn = (folder: string): string => join(folder, 'agent.reserve')

/** True if the reserve is there. */
export const hasReserve = (folder: string): boolean =>
  statSync(fileIn(folder), { throwIfNoEntry: false })?.size === reserveBytes

/** Puts the reserve aside where there is ample room for it. */
export function keepReserve(folder: string): void {
  if (hasReserve(folder)) return
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < 4 * reserveBytes) return
  const file = openSync(fileIn(folder), 'w', 0o600)
  try {
    // Written, not only sized: a file with holes keeps no room.
    writeSync(file, Buffer.alloc(reserveBytes))
  } finally {
    closeSync(file)
  }
}

/** Does the work, once more with the reserve given up if there is no room. */
export function withReserve<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!lacksRoom(error) || !giveUpReserve(folder)) throw error
    return work()
  }
}

/** Gives the reserve to the disk; false if there is none any more. */
function giveUpReserve(folder: string): boolean {
  if (!hasReserve(folder)) return false
  rmSync(fileIn(folder))
  return true
}

/** SQLite's codes for a disk that is full, for a file that cannot be extended, and for one that cannot be created. */
const codes = new Set([10, 13, 14])

/** True if SQLite says that there is no room, or may mean it. */
const lacksRoom = (error: unknown): boolean => codes.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)
