// What the archive has of a log after a backup.
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { segmentsBetween } from '../log-segments.ts'
import type { Manifest } from './manifest.ts'

/** How far a backup can be recovered. */
export interface LogReach {
  /** The folder of its log; undefined: it has none. */
  readonly log: string | undefined
  /** The last segment that follows without a gap. */
  readonly last: string
  /** When that was archived: changes up to about then are in it. Undefined: nothing follows the backup. */
  readonly archivedAt: Date | undefined
  /** The first segment that is missing although later ones are there. */
  readonly missing: string | undefined
}

/** @param folder of the backup. @throws Error if the folder of the log cannot be read. */
export async function reachOf(folder: string, { log: name, segments, segmentBytes }: Manifest): Promise<LogReach> {
  if (name === null) return { log: undefined, last: segments.last, archivedAt: undefined, missing: undefined }
  const log = join(dirname(folder), name)
  const timeline = segments.last.slice(0, 8)
  const archived = new Set((await readdir(log)).filter(each => isSegment(each) && each.startsWith(timeline)))
  const newest = [...archived].reduce((one, other) => (one > other ? one : other), segments.last)
  const following = segmentsBetween(segments.last, newest, segmentBytes).slice(1)
  const gap = following.findIndex(each => !archived.has(each))
  const last = (gap < 0 ? following : following.slice(0, gap)).at(-1)
  return {
    log,
    last: last ?? segments.last,
    archivedAt: last === undefined ? undefined : (await stat(join(log, last))).mtime,
    missing: gap < 0 ? undefined : following[gap],
  }
}

/** True for the name of a segment: not for histories, labels of backups, and files that are being written. */
export const isSegment = (name: string): boolean => /^[0-9A-F]{24}$/.test(name)
