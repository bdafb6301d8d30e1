// Merges two patients that are one person, or undoes that: both are written at once, and reviews that asked whether they are one are done.

import type { JsonObject } from '../lib/json.ts'
import { isReplacing, replaced, separated } from '../mpi/register/merge.ts'
import { type Addresses, replacementOf } from '../mpi/register/patient.ts'
import { comparedIn, openIn, reviewed, settled, settledIn, undone } from '../mpi/register/review.ts'
import type { Store } from '../store/store.ts'
import { beforeMerge } from './before-merge.ts'
import { reviewsAbout } from './reviews.ts'

/** A Patient as it was read. */
export interface ReadPatient {
  readonly patient: JsonObject
  readonly version: number
}

/** What it is done with. */
export interface Merging {
  /** Of the caller, in the transaction of the merge. */
  readonly own: Store
  /** Of the service itself, in the same transaction. */
  readonly service: Store
  readonly addresses: Addresses
}

/**
 * Stores a merge, which `obstacle` has permitted.
 * @param from the Patient that is replaced
 * @param into the other one
 * @param result what the other one will be (`survivor`)
 * @returns the body of the Patient that remains
 * @throws Failure PRECONDITION_FAILED if one of them has changed meanwhile.
 */
export async function merged(
  { own, service, addresses }: Merging,
  from: ReadPatient,
  into: ReadPatient,
  result: JsonObject,
): Promise<string | undefined> {
  const [source, target] = [String(from.patient['id']), String(into.patient['id'])]
  // Both at once: the Health ID may go from one to the other.
  const last = await written(own, [
    { id: source, ifMatch: from.version, resource: replaced(from.patient, into.patient, addresses) },
    { id: target, ifMatch: into.version, resource: result },
  ])
  await closeReviews(service, source, target)
  return last
}

/**
 * Stores two patients that were merged as two people again, which `undoObstacle` has permitted. The reviews that the merge answered are
 * open again, but for the two, who are kept apart.
 * @returns the body of the one into which the other was merged
 * @throws Failure PRECONDITION_FAILED if one of them has changed meanwhile.
 */
export async function unmerged(parts: Merging, from: ReadPatient, into: ReadPatient): Promise<string | undefined> {
  const { source, target } = await partedFrom(parts, from.patient, into.patient)
  const [sourceId, targetId] = [String(source['id']), String(target['id'])]
  const last = await written(parts.own, [
    { id: sourceId, ifMatch: from.version, resource: source },
    { id: targetId, ifMatch: into.version, resource: target },
  ])
  await reopenReviews(parts.service, sourceId, targetId)
  return last
}

/** Returns what both are once their merge is undone, without storing it. */
export async function partedFrom(
  { service, addresses }: Pick<Merging, 'service' | 'addresses'>,
  source: JsonObject,
  target: JsonObject,
): Promise<ReturnType<typeof separated>> {
  const [from, into] = [String(source['id']), String(target['id'])]
  const before = {
    source: await beforeMerge(service, source, version => replacementOf(version, addresses) === into),
    target: await beforeMerge(service, target, version => isReplacing(version, from, addresses)),
  }
  return separated(source, target, before, addresses)
}

/** Writes Patients at once. @returns the body of the last one */
async function written(
  own: Store,
  entries: readonly { readonly id: string; readonly ifMatch: number; readonly resource: JsonObject }[],
): Promise<string | undefined> {
  const outcomes = await own.transaction(
    entries.map(each => ({ ...each, fullUrl: undefined, method: 'PUT' as const, type: 'Patient', query: undefined })),
    () => Promise.resolve(undefined),
  )
  const last = outcomes.at(-1)
  return last && 'written' in last ? last.written?.body : undefined
}

/** Review Tasks that asked whether the two are one are done, unless others than the two are still in question. */
async function closeReviews(service: Store, source: string, target: string): Promise<void> {
  const pair = [source, target]
  for (const { id, task } of await reviewsAbout(service, pair, { status: 'requested' })) {
    const { focus } = comparedIn(task)
    const open = openIn(task)
    const other = pair.find(each => each !== focus)!
    if (!pair.includes(focus ?? '') || !open.includes(other)) continue
    const isDone = focus === source || open.every(each => pair.includes(each))
    const changed = isDone ? reviewed(task, target) : settled(task, { patient: other, outcome: 'merged' })
    await service.update('Task', id, changed, {})
  }
}

/** Review Tasks that the merge of the two answered ask again about others; the two are kept apart. */
async function reopenReviews(service: Store, source: string, target: string): Promise<void> {
  for (const { id, task } of await reviewsAbout(service, [source, target])) {
    const other = comparedIn(task).focus === source ? target : source
    const isAnswered = settledIn(task).some(
      ({ patient, outcome }) =>
        (outcome === 'merged' && patient === other) || (outcome === 'merged-into' && patient === target),
    )
    if (isAnswered) await service.update('Task', id, undone(task, other), {})
  }
}
