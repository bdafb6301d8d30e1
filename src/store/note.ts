// What a caller has kept of changes in their transaction: a row of whoever keeps the record of accesses.
import type { Queryable, Statement, Transaction } from '../db/statement.ts'
import type { Access, Deed, Note } from './access.ts'
import { isId } from './ids.ts'
import { patientsIn } from './patients.ts'
import type { Principal } from './principal.ts'
import type { WriteMethod } from './type-number.ts'

/** A change as it was asked for. */
interface Changing {
  readonly method: WriteMethod
  /** What it was conditional on. */
  readonly condition?: string
}

/** What came of it. */
interface Changed {
  readonly type: string
  readonly id: string
  readonly version: number
  /** Undefined after a deletion. */
  readonly body: string | undefined
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
  { principal, base }: { readonly principal: Principal; readonly base: string },
  changed: readonly { readonly change: Changing; readonly written: Changed }[],
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
function accessOf({ method, condition }: Changing, { type, id, version, body = '' }: Changed, base: string): Access {
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
