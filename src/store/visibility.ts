// Which resources a caller may see within its scopes: conditions that every read statement of the caller carries.

import type { Queryable } from '../db/statement.ts'
import type { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Base } from './base.ts'
import type { Binder } from './search/binder.ts'

/** What a caller may see; a caller without it sees all that its scopes open. */
export interface Visibility {
  /** The condition that the caller may see the resource of this row of `search`. */
  resource(row: string, binder: Pick<Binder, 'bind'>): string
  /** The condition that the caller may see this row of `history`, as far as the row itself decides it. */
  version(row: string, binder: Pick<Binder, 'bind'>): string
  /** The condition that the caller may change the resource of this row of `search`, which it may see. */
  change(row: string, binder: Pick<Binder, 'bind'>): string
  /** Returns why the caller may not write this; undefined if it may. @param base address of this server's FHIR endpoint */
  objection(writing: Writing, base: Base): Failure | undefined
  /**
   * Returns why the caller may not see what is about a patient.
   * @param subject hash of the patient, or a mark as in the column `subject`
   */
  refusal(on: Queryable, subject: bigint): Promise<Failure>
  /**
   * The same condition as `resource`, for statements that read many rows of these types: a table to join, and a condition on both.
   */
  among(row: string, types: readonly number[], binder: Pick<Binder, 'bind'>): { join: string; condition: string }
  /** Selects a `Reach` of these types, or no row if it is large: it narrows searches, and decides nothing. */
  reach(types: readonly number[], binder: Pick<Binder, 'bind'>): string
  /** The hash of the caller as an author, as `author` in `search` and `history` has it. */
  author(binder: Pick<Binder, 'bind'>): string
  /** Of these patients (ids), those whose data is closed to the caller except for what it wrote: as an array, null for none. */
  closed(patients: readonly string[], binder: Pick<Binder, 'bind'>): string
  /** Sees this patient's data in an emergency, which is on record when it resolves; absent if the caller declares none. */
  readonly override?: (patient: string) => Promise<Visibility>
}

/** All that a caller may see of data about patients is about one or more of these patients, or its own. */
export interface Reach {
  /** Hashes of the patients, as the text of an array. */
  readonly patients: string
  /** Keys of what the caller wrote, in the same form. */
  readonly own: string
}

/** Something that is to be written, in place of what is stored. */
export interface Writing {
  readonly type: string
  /** Undefined: it is deleted. */
  readonly resource: JsonObject | undefined
  /** Of a Patient only: as it is stored; undefined if it is not. */
  readonly former: JsonObject | undefined
}

/** What a search or another statement works with. */
export interface Seen {
  readonly visibility: Visibility | undefined
}

/** The conditions on a row of `search` that its resource may be seen: none, or one. */
export function seen(row: string, { visibility, ...binder }: Seen & Pick<Binder, 'bind'>): string[] {
  return visibility ? [visibility.resource(row, binder)] : []
}
