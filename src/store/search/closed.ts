// Patients whom a search names although the caller may see nothing of theirs: found out by the statement that finds a page.
import { patientsNamed } from '../patients.ts'
import type { Seen } from '../visibility.ts'
import type { Binder } from './binder.ts'
import type { Criterion } from './request.ts'

/** What such a statement says of them in each of its rows. */
export interface Closed {
  /** Ids; null if there are none, absent if nobody is named. */
  readonly closed?: string[] | null
}

/** The column `closed` as an expression: none if no patient is named or the caller sees all. */
export function closedColumn(
  criteria: readonly Criterion[],
  { visibility, ...binder }: Seen & Pick<Binder, 'bind'>,
): string[] {
  const named = visibility ? patientsNamed(criteria) : []
  return named.length > 0 ? [visibility!.closed(named, binder)] : []
}

/** Who they are, as the rows of a page say; undefined if somebody is named and there is no row to say it. */
export function closedOf(rows: readonly Closed[]): readonly string[] | undefined {
  const [row] = rows
  return row && (row.closed ?? [])
}
