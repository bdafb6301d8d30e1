// Patients that a search names although the caller may see none of their data: found by the statement that finds a page.
import { patientsNamed } from '../patients.ts'
import type { Seen } from '../visibility.ts'
import type { Binder } from './binder.ts'
import type { Criterion } from './request.ts'

/** The columns for them in each row of such a statement. */
export interface Closed {
  /** Ids; null if there are none, absent if the search names no patient. */
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

/** Returns them from the rows of a page; undefined if the search names patients and there is no row. */
export function closedOf(rows: readonly Closed[]): readonly string[] | undefined {
  const [row] = rows
  return row && (row.closed ?? [])
}
