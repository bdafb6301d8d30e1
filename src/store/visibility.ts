// Which resources a caller may see within its scopes: conditions that every read statement of the caller carries.

import type { Queryable } from '../db/statement.ts'
import type { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Base } from './base.ts'
import type { Binder } from './search/binder.ts'
import type { Sketch } from './sketch.ts'

/** What a caller may see; a caller without it sees all that its scopes open. */
export interface Visibility {
  /** The condition that the caller may see the resource of this row of `search`, or the version of this row of `history`. */
  resource(row: string, binder: Pick<Binder, 'bind'>): string
  /**
   * Holds wherever `resource` does, and looks at the columns subject and author alone: it passes over what the caller may not see by
   * an index, and decides nothing.
   */
  likely(row: string, seen: Pick<Seen, 'sketch'> & Pick<Binder, 'bind'>): string
  /** The callers that the same consents concern, and that write as one author. */
  readonly group: string
  /** Selects what a sketch of the group is made of (sketch.ts), as one row. */
  sketched(binder: Pick<Binder, 'bind'>): string
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
   * For statements that count many rows of these types by the columns type, subject and author: `surely` implies `resource`, and where
   * neither holds, nor does `resource`.
   */
  divided(row: string, types: readonly number[], binder: Pick<Binder, 'bind'>): { surely: string; maybe: string }
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

/**
 * Returns the function with one result for each caller, kept for as long as the caller is: making the text of a condition takes as
 * long as the rest of a read.
 */
export function byCaller<Made>(make: (visibility: Visibility | undefined) => Made): typeof make {
  const [nobody, known] = [{}, new WeakMap<object, Made>()]
  return visibility => {
    const caller = visibility ?? nobody
    let made = known.get(caller)
    if (made === undefined) known.set(caller, (made = make(visibility)))
    return made
  }
}

/** What a search or another statement works with. */
export interface Seen {
  readonly visibility: Visibility | undefined
  /** Passes over most of what the caller may not see; undefined: there is none. */
  readonly sketch?: Sketch | undefined
}

/** The conditions on a row of `search` that its resource may be seen: none, or one, with what soon passes over most others. */
export function seen(row: string, { visibility, sketch, ...binder }: Seen & Pick<Binder, 'bind'>): string[] {
  if (!visibility) return []
  const resource = visibility.resource(row, binder)
  return sketch?.field ? [visibility.likely(row, { ...binder, sketch }), resource] : [resource]
}

/**
 * The condition that it is worth looking at the resource, on a row with the columns subject and author: none, or one. What it lets pass is then
 * looked at by `seen` without the sketch, which would be asked again.
 */
export function likelySeen(row: string, { visibility, ...seeing }: Seen & Pick<Binder, 'bind'>): string[] {
  return visibility ? [visibility.likely(row, seeing)] : []
}
