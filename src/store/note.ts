// What a caller has kept of changes in their transaction: a row of whoever keeps the record of accesses.
import type { Queryable, Statement, Transaction } from '../db/statement.ts'
import type { Access, Deed } from './access.ts'
import { isId } from './ids.ts'
import { patientsIn } from './patients.ts'
import type { Session } from './session.ts'
import type { WriteMethod } from './type-number.ts'
import type { Change, Written } from './write.ts'

/** A row that is there if the changes are, and not if they are not. */
export interface Note {
  /** The text of the statement that writes it, given the places of its two values; always the same. */
  readonly insertion: (first: string, second: string) => string
  readonly values: readonly [string, string]
  /** Called once it is certain that it is there. */
  readonly committed: () => void
}

const noteStatement = ({ insertion, values }: Note): Statement => ({
  name: 'note',
  text: insertion('$1::text', '$2::text'),
  values,
})

/** Writes a note by itself, in the transaction of what it is about. */
export async function writeNote(on: Queryable | Transaction, note: Note): Promise<void> {
  await on.run(noteStatement(note))
  tellCommitted(on, note)
}

/** What the caller keeps of these changes; nothing where nobody asks. */
export function noteOf(
  { principal, base }: Pick<Session, 'principal' | 'base'>,
  changed: readonly { readonly change: Change; readonly written: Written }[],
): Note | undefined {
  if (!principal.note || changed.length === 0) return undefined
  return principal.note(changed.map(({ change, written }) => accessOf(change, written, base)))
}

/** Tells that a note is there: now, or when the transaction is committed that it is part of. */
export function tellCommitted(on: Queryable | Transaction, { committed }: Note): void {
  if ('afterwards' in on) on.afterwards(committed)
  else committed()
}

const deeds: Readonly<Record<WriteMethod, Deed>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** A change as the witness is told of it. */
function accessOf({ method, condition }: Change, { type, id, version, body = '' }: Written, base: string): Access {
  const named = type === 'Patient' && isId(id) ? [id] : []
  return {
    deed: deeds[method],
    type,
    id,
    version,
    query: condition === undefined ? undefined : `${type}?${condition}`,
    patients: patientsIn([{ type, id, body }], base, named),
    resources: 1,
  }
}
