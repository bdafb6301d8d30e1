// Which resources a caller may see beside what his scopes open: conditions that every statement carries which reads for him.
import type { Queryable } from '../db/statement.ts'
import type { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Binder } from './search/sql-context.ts'

/** What a caller may see; one without it sees all that his scopes open. */
export interface Visibility {
  /** The condition that he may see the resource of this row of `search`. */
  resource(row: string, binder: Pick<Binder, 'bind'>): string
  /** The condition that he may see this row of `history`, as far as the row itself tells. */
  version(row: string, binder: Pick<Binder, 'bind'>): string
  /** The condition that he may change the resource of this row of `search`, which he may see. */
  change(row: string, binder: Pick<Binder, 'bind'>): string
  /** Why he may not write a resource so; undefined if he may. @param base address of this server's FHIR endpoint */
  objection(writing: Writing, base: string): Failure | undefined
  /** Why he may not see what is about a patient. @param subject hash of the patient, or a mark as in the column `subject` */
  refusal(on: Queryable, subject: bigint): Promise<Failure>
  /** Of these patients (ids), those of whom he may see nothing but what he wrote himself. */
  closed(on: Queryable, patients: readonly string[]): Promise<string[]>
  /** Sees this patient's data in an emergency, which is on record when it resolves; absent if the caller declares none. */
  readonly override?: (patient: string) => Promise<Visibility>
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
