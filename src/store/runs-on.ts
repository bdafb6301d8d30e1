// Where each kind of read runs: on the primary, or on a standby that shows all that was acknowledged when the read began
// (docs/decisions/0091-reads-on-standbys.md).
import { type Queryable, readingOf } from '../db/statement.ts'

/**
 * What takes long runs on a standby. A read by id is not in the list: it takes less than asking how far a standby is. Nor is what a change
 * depends on, which is part of a transaction or a condition.
 */
const runsOn = {
  'history-instance': 'primary',
  'history-type': 'standby',
  'history-system': 'standby',
  search: 'standby',
  everything: 'standby',
  lastn: 'standby',
  /** The resources of a background export; what it lists is written, so that runs on the primary. */
  'export-bodies': 'standby',
  /** A search of the audit trail. */
  'audit-search': 'standby',
} as const satisfies Readonly<Record<string, 'primary' | 'standby'>>

/** Returns where the statements of this read run. @throws Failure UNAVAILABLE when the database cannot be reached. */
export const placeFor = async (read: keyof typeof runsOn, on: Queryable): Promise<Queryable> =>
  runsOn[read] === 'standby' ? readingOf(on) : on
