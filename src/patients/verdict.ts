// What follows from comparing a person with the register: the patient that it is, or possible duplicates to review.

import { type Caller, system } from '../access/caller.ts'
import type { Ranked } from '../mpi/matching/decide.ts'
import type { MatchVerdict } from '../mpi/register/register.ts'
import { reviewTask } from '../mpi/register/review.ts'
import type { Access } from '../store/access.ts'
import { recordedFor } from '../store/recording.ts'
import type { Acting } from '../store/unit-of-work.ts'

/**
 * Returns the id of the patient, if the match is certain. A patient with the organisation's own number for this person
 * matches if nothing speaks against it, however little else is known; names, birth date and sex that disagree need review.
 */
export function theOne({ decision, numbered }: MatchVerdict): string | undefined {
  if (decision.outcome === 'match') return decision.id
  const same = decision.ranked.filter(({ id }) => numbered.has(id))
  const [one, ...more] = same
  if (!one || more.length > 0) return undefined
  return one.score.isContradicted ? undefined : one.id
}

/** Creates a Task to review the possible duplicates of a patient that was registered now, and returns how many there are. */
export async function reviewed(
  parts: ReviewParts,
  caller: Caller,
  id: string,
  { decision, numbered }: Pick<MatchVerdict, 'decision' | 'numbered'>,
): Promise<number> {
  const suspects = decision.ranked.filter(each => each.grade !== 'certainly-not' || numbered.has(each.id))
  if (suspects.length > 0) await askToReview(parts, caller, id, suspects)
  return suspects.length
}

type ReviewParts = Pick<Acting, 'storeFor'> & { readonly now: () => Date }

/**
 * Creates a Task to review whether a patient is one of others. The service reads them, not the caller, which may not see the patients
 * concerned.
 */
export async function askToReview(
  { storeFor, now }: ReviewParts,
  caller: Caller,
  id: string,
  suspects: readonly Ranked[],
): Promise<void> {
  // The other patients of the Task are not disclosed, and the caller can read the trail of its own organisation.
  const discreet = (access: Access): Access => ({ ...access, patients: [id] })
  const store = storeFor({ ...system, ...recordedFor(caller, discreet) })
  await store.create('Task', reviewTask(id, suspects, now()))
}
