// The part of the audit trail that no store reports: acts that change no resource, and listeners to accesses.
import type { Transaction, Transactional } from '../db/statement.ts'
import type { Access, Witness } from './access.ts'
import { writeNote } from './note.ts'
import type { Principal } from './principal.ts'

type Recorder = Pick<Principal, 'witness' | 'note'>

/**
 * Runs an act in one transaction, together with the note of it, and records it once it is committed.
 * @param act what it is on the audit trail.
 * @param work returns false if it did nothing: then nothing is recorded.
 */
export async function asAct(
  database: Transactional,
  { witness, note }: Recorder,
  act: Access,
  work: (within: Transaction) => Promise<boolean>,
): Promise<void> {
  const isDone = await database.transaction(async within => {
    if (!(await work(within))) return false
    const kept = note?.([act])
    if (kept) await writeNote(within, kept)
    return true
  })
  if (isDone) witness?.(act)
}

/** Returns the same caller, whose accesses a listener receives too. */
export const heardBy = <Of extends Principal>(caller: Of, listener: Witness): Of => ({
  ...caller,
  witness: (access: Access) => {
    listener(access)
    caller.witness?.(access)
  },
})

/**
 * What another principal takes over to act for a caller: in the caller's transaction, and recorded as the caller's.
 * @param asTold what is recorded of an access, where the caller's organisation must not read all of it.
 */
export const recordedFor = (
  { within, witness, note }: Recorder & Pick<Principal, 'within'>,
  asTold = (access: Access): Access => access,
): Recorder & Pick<Principal, 'within'> => ({
  within,
  witness: witness && (access => witness(asTold(access))),
  note: note && (changes => note(changes.map(asTold))),
})
