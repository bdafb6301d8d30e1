// A person decides whether two records are one: they are merged as by Patient/$merge, or kept apart and not proposed again. A merge can be
// undone.

import { onBehalfOf, system, type UserCaller } from '../access/caller.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, objectsIn, parseJson } from '../lib/json.ts'
import { obstacle, survivor, undoObstacle } from '../mpi/register/merge.ts'
import { type Addresses, healthIdsOf, replacementOf } from '../mpi/register/patient.ts'
import { settled } from '../mpi/register/review.ts'
import { inOperation } from '../store/operation.ts'
import { recordedFor } from '../store/recording.ts'
import type { Store } from '../store/store.ts'
import { type Acting, inUnitOfWork } from '../store/unit-of-work.ts'
import { type DuplicateReview, outcomeFor, readPeople, reviewOf } from './duplicates.ts'
import { merged, type ReadPatient, unmerged } from './merge.ts'

export interface DecidingParts extends Acting {
  readonly addresses: Addresses
  readonly now: () => Date
}

/** What the user saw, and says. */
export interface Verdict {
  /** Id of the candidate; the other one is the subject of the question. */
  readonly candidate: string
  /** Of the question. */
  readonly version: number
  /** Of the subject, and of the candidate; 0 if it is deleted. */
  readonly versions: readonly [subject: number, candidate: number]
  readonly note: string
}

/** What a merge would leave. */
export interface MergePreview {
  /** Why the two cannot be merged; undefined if they can. */
  readonly obstacle: string | undefined
  /** The record that remains, as it will be. */
  readonly result: JsonObject
  /** Its Health IDs: those that are valid, and former ones, which lead to it. */
  readonly healthIds: { readonly current: readonly string[]; readonly former: readonly string[] }
  /** Identifiers that it takes over. */
  readonly moved: readonly JsonObject[]
}

/** Returns what becomes of a merge, without storing it. @param from the record that is replaced */
export function previewMerge(addresses: Addresses, from: ReadPatient, into: ReadPatient): MergePreview {
  const result = survivor(from.patient, into.patient, addresses)
  const own = objectsIn(into.patient['identifier']).length
  return {
    obstacle: obstacle(from.patient, into.patient, addresses),
    result,
    healthIds: healthIdsOf(result, addresses),
    moved: objectsIn(result['identifier']).slice(own),
  }
}

/**
 * Merges the two records. The changes are on the audit trail with the user.
 * @throws Failure NOT_FOUND; CONFLICT if somebody else decided, or one of the records has changed since the user saw it;
 * VALIDATION_FAILED if they cannot be merged
 */
export function mergeDuplicates(
  parts: DecidingParts,
  caller: UserCaller,
  id: string,
  verdict: Verdict & { readonly remaining: 'subject' | 'candidate' },
): Promise<void> {
  return decided(parts, caller, id, verdict, async ({ inner, service, task, subject, candidate }) => {
    const [from, into] = verdict.remaining === 'candidate' ? [subject, candidate] : [candidate, subject]
    if (!from || !into) throw new Failure('VALIDATION_FAILED', 'One of the records is deleted.')
    const reason = obstacle(from.patient, into.patient, parts.addresses)
    if (reason !== undefined) throw new Failure('VALIDATION_FAILED', reason)
    await service.update('Task', id, task, { ifMatch: verdict.version })
    const own = parts.storeFor(onBehalfOf(inner, { Patient: 'u' }))
    const result = survivor(from.patient, into.patient, parts.addresses)
    await merged({ own, service, addresses: parts.addresses }, from, into, result)
  })
}

/** Records that the two are different people: the pair is not proposed again. @throws Failure as `mergeDuplicates` does */
export function keepApart(parts: DecidingParts, caller: UserCaller, id: string, verdict: Verdict): Promise<void> {
  return decided(parts, caller, id, verdict, async ({ service, task }) => {
    const changed = settled(task, { patient: verdict.candidate, outcome: 'kept-apart' })
    await service.update('Task', id, changed, { ifMatch: verdict.version })
  })
}

/**
 * Undoes the merge of the two, which are kept apart from then on.
 * @throws Failure as `mergeDuplicates` does
 */
export function undoMerge(parts: DecidingParts, caller: UserCaller, id: string, verdict: Verdict): Promise<void> {
  return decided(
    parts,
    caller,
    id,
    verdict,
    async ({ inner, service, task, ...pair }) => {
      const { from, into, reason } = toUndo(parts.addresses, pair)
      if (!from || !into || reason !== undefined)
        throw new Failure('VALIDATION_FAILED', reason ?? 'One of the records is deleted.')
      await service.update('Task', id, task, { ifMatch: verdict.version })
      const own = parts.storeFor(onBehalfOf(inner, { Patient: 'u' }))
      await unmerged({ own, service, addresses: parts.addresses }, from, into)
    },
    'merged',
  )
}

/** Returns which of the two was merged into the other, and why that cannot be undone. */
export function toUndo(
  addresses: Addresses,
  { subject, candidate }: Pick<Deciding, 'subject' | 'candidate'>,
): { readonly from?: ReadPatient; readonly into?: ReadPatient; readonly reason?: string | undefined } {
  if (!subject || !candidate) return {}
  const isSubject = replacementOf(subject.patient, addresses) === candidate.patient['id']
  const [from, into] = isSubject ? [subject, candidate] : [candidate, subject]
  return { from, into, reason: undoObstacle(from.patient, into.patient, addresses) }
}

/** What a decision is made with. */
interface Deciding {
  /** The user, within the transaction. */
  readonly inner: UserCaller
  /** Of the service itself, in the same transaction; its changes are recorded as the user's. */
  readonly service: Store
  /** With the note of the user. */
  readonly task: JsonObject
  /** Undefined if it is deleted. */
  readonly subject: ReadPatient | undefined
  readonly candidate: ReadPatient | undefined
}

function decided(
  parts: DecidingParts,
  caller: UserCaller,
  id: string,
  verdict: Verdict,
  act: (deciding: Deciding) => Promise<void>,
  state: 'open' | 'merged' = 'open',
): Promise<void> {
  return inUnitOfWork(parts.unitOfWork, caller, async inner => {
    const review = await reviewOf(parts, inner, id)
    mustStillBe(state, review, verdict)
    const people = await readPeople(parts, inOperation(inner), [review.subject, verdict.candidate])
    const [subject, candidate] = [people.get(review.subject), people.get(verdict.candidate)]
    const [seenSubject, seenCandidate] = verdict.versions
    if ((subject?.version ?? 0) !== seenSubject || (candidate?.version ?? 0) !== seenCandidate)
      throw new Failure(
        'CONFLICT',
        'One of the records has changed since you saw it: go back, reload, and compare them again.',
      )
    const service = parts.storeFor({ ...system, ...recordedFor(inner) })
    const read = parts.storeFor({ ...system, within: inner.within })
    const task = parseJson((await read.read('Task', id)).body) as JsonObject
    const note = { authorString: caller.email, time: parts.now().toISOString(), text: verdict.note }
    await act({ inner, service, task: { ...task, note: [...objectsIn(task['note']), note] }, subject, candidate })
  })
}

function mustStillBe(state: 'open' | 'merged', review: DuplicateReview, { candidate, version }: Verdict): void {
  if (!review.likenesses.some(({ patient }) => patient === candidate))
    throw new Failure('NOT_FOUND', 'The question is not about this record.')
  if (review.version !== version || outcomeFor(review, candidate) !== state)
    throw new Failure('CONFLICT', 'Another user decided this meanwhile: go back and reload the page.')
}
