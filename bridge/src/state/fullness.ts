// How full the agent is: the largest share of its limits that is used up. At 1 the inputs refuse; nothing stored is dropped.
import { statfsSync } from 'node:fs'
import type { Limits } from '../config-shape.ts'
import { oldest, tally } from './items.ts'
import type { State } from './state.ts'

export interface Fullness {
  readonly limit: 'items' | 'bytes' | 'age' | 'disk'
  /** 1 and more: full. */
  readonly share: number
  readonly text: string
}

const day = 86_400_000

/** Bytes that inputs leave free, however low the limit is set: what is sent needs room to be taken off the queue. */
const leastFree = 4 * 1048576

/** Returns the share used of every limit, the fullest first. */
export function fullness(state: State, limits: Limits, now: number, freeBytes = freeOf(state.folder)): Fullness[] {
  const items = tally(state, 'item')
  const kept = tally(state, 'quarantine')
  const [count, bytes] = [items.count + kept.count, items.bytes + kept.bytes]
  const free = Math.max(limits.min_free_bytes, leastFree)
  const days = Math.max(0, now - (oldest(state) ?? now)) / day
  const shares: Fullness[] = [
    { limit: 'items', share: count / limits.max_items, text: `${count} of ${limits.max_items} items` },
    { limit: 'bytes', share: bytes / limits.max_bytes, text: `${inMiB(bytes)} of ${inMiB(limits.max_bytes)} MiB` },
    {
      limit: 'age',
      share: days / limits.max_age_days,
      text: `the oldest item waits for ${days.toFixed(1)} of ${limits.max_age_days} days`,
    },
    {
      limit: 'disk',
      share: free / Math.max(freeBytes, 1),
      text: `${inMiB(freeBytes)} MiB of the disk are free, ${inMiB(free)} MiB must be`,
    },
  ]
  return shares.sort((one, other) => other.share - one.share)
}

const inMiB = (bytes: number): string => String(Math.round(bytes / 1048576))

/** Bytes of the folder's disk that this process may still use. */
function freeOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

const steps = [95, 80, 50] as const

/** Percent at which a warning is due: 50, 80 or 95; 0: none. */
const stepOf = ({ share }: Fullness): number => steps.find(step => share * 100 >= step) ?? 0

/** Warnings, the gravest first. */
export function warningsOf(all: readonly Fullness[]): string[] {
  return all
    .filter(each => stepOf(each) > 0)
    .map(each => (each.share >= 1 ? `full, inputs refuse: ${each.text}` : `${stepOf(each)} % full: ${each.text}`))
}
