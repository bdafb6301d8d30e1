// The reviews of emergency accesses: Tasks that the service opens when a client breaks the glass, for privacy officers to answer.

import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject, objectsIn, parseJson } from '../../lib/json.ts'
import { reviewSystem } from '../../store/index/subject.ts'
import type { DatabaseFor, Principal } from '../../store/principal.ts'
import { recordedFor } from '../../store/recording.ts'
import { encodeCursor } from '../../store/search/request.ts'
import type { Store } from '../../store/store.ts'
import { onBehalfOf, system, type UserCaller } from '../caller.ts'
import { reviewingFor, writtenByService } from '../reviews.ts'

export const reviewStates = ['open', 'escalated', 'accepted'] as const

export type ReviewState = (typeof reviewStates)[number]

/** An answer: the emergency was one, or it must be looked into further. */
export type ReviewAnswer = 'accept' | 'escalate'

export interface Review {
  /** Of the Task. */
  readonly id: string
  readonly version: number
  readonly state: ReviewState
  /** Id of the patient. */
  readonly patient: string
  readonly organizationId: string
  readonly clientId: string
  readonly requestId: string
  readonly reason: string
  readonly from: Date
  readonly until: Date
  readonly notes: readonly { readonly at: Date; readonly by: string; readonly text: string }[]
}

export interface ReviewParts {
  readonly storeFor: (principal: Principal) => Store
  readonly databaseFor: DatabaseFor
  readonly now: () => Date
}

/** As Task.status has them. */
const statuses = { open: 'requested', escalated: 'in-progress', accepted: 'completed' } as const

/** The code of these Tasks. */
export const emergencyReview = 'emergency-access'

/** The input of a Task that names the client. */
export const clientInput = 'client id'

/** Most reviews of a page, and of one patient. */
const most = { page: 50, patient: 200 }

export interface ReviewPage {
  readonly reviews: readonly Review[]
  /** Where the next page begins. */
  readonly next: string | undefined
}

/**
 * Returns the reviews in a state, page by page: of the user's organisation, for administrators of all. Those that wait are in the order
 * in which they came, others the latest first.
 * @param after where the page begins: `next` of the one before
 */
export async function listReviews(
  parts: ReviewParts,
  caller: UserCaller,
  state: ReviewState,
  after?: string,
): Promise<ReviewPage> {
  return found(parts, caller, {
    status: statuses[state],
    ...ofOrganization(reviewingFor(caller)),
    ...(after !== undefined && { _cursor: after }),
    _sort: state === 'accepted' ? '-_lastUpdated' : 'authored-on',
    _count: String(most.page),
  })
}

/** Returns the emergencies of patients (ids), the newest first: those of the user's organisation, for administrators all. */
export async function reviewsOf(
  parts: ReviewParts,
  caller: UserCaller,
  patients: readonly string[],
): Promise<readonly Review[]> {
  const query = { ...ofOrganization(reviewingFor(caller)), _sort: '-authored-on', _count: String(most.patient) }
  return (await found(parts, caller, { ...query, patient: patients.join(',') })).reviews
}

const ofOrganization = (organization: string | undefined): Readonly<Record<string, string>> =>
  organization === undefined ? {} : { requester: `Organization/${organization}` }

/**
 * Answers a review, with a note of the user. The Task remains the service's own; the change is on the audit trail with the user.
 * @param version the one that the user saw
 * @throws Failure NOT_FOUND for what is no review of the user's organisation; CONFLICT for one that was answered, or changed since;
 * FORBIDDEN for an officer who accepts what was escalated
 */
export async function answerReview(
  parts: ReviewParts,
  caller: UserCaller,
  id: string,
  { answer, note, version }: { readonly answer: ReviewAnswer; readonly note: string; readonly version: number },
): Promise<void> {
  const organization = reviewingFor(caller)
  const [review] = (await found(parts, caller, { _id: id })).reviews
  if (!review || (organization !== undefined && review.organizationId !== organization))
    throw new Failure('NOT_FOUND', 'Your organisation has no such emergency.')
  if (
    review.version !== version ||
    review.state === 'accepted' ||
    (review.state === 'escalated' && answer === 'escalate')
  )
    throw new Failure('CONFLICT', 'This emergency was answered meanwhile: reload the page.')
  if (review.state === 'escalated' && organization !== undefined)
    throw new Failure('FORBIDDEN', 'Administrators answer what was escalated.')
  const store = parts.storeFor({ ...system, ...recordedFor(caller) })
  const task = parseJson((await store.read('Task', id)).body) as JsonObject
  const written = { authorString: caller.email, time: parts.now().toISOString(), text: note }
  const status = statuses[answer === 'accept' ? 'accepted' : 'escalated']
  const changed = { ...task, status, note: [...objectsIn(task['note']), written] }
  await store.update('Task', id, changed, { ifMatch: version })
}

async function found(
  { storeFor, databaseFor }: ReviewParts,
  caller: UserCaller,
  query: Readonly<Record<string, string>>,
): Promise<ReviewPage> {
  const store = storeFor(onBehalfOf(caller, { Task: 's' }))
  const all = { ...query, code: `${reviewSystem}|${emergencyReview}` }
  const { matches, next } = await store.search(store.parse(['Task'], Object.entries(all), true))
  const reviews = matches.map(({ body }) => reviewOf(parseJson(body) as JsonObject))
  const own = await writtenByService(
    databaseFor(caller),
    reviews.map(({ id }) => id),
  )
  return { reviews: reviews.filter(({ id }) => own.has(id)), next: next && encodeCursor(next) }
}

function reviewOf(task: JsonObject): Review {
  const period = objectIn(task['executionPeriod'])
  const [identifier] = objectsIn(task['identifier'])
  const input = objectsIn(task['input']).find(each => objectIn(each['type'])['text'] === clientInput)
  const status = Object.entries(statuses).find(([, each]) => each === task['status'])
  return {
    id: String(task['id']),
    version: Number(objectIn(task['meta'])['versionId']),
    state: (status?.[0] ?? 'open') as ReviewState,
    patient: idOf(task['for']),
    organizationId: idOf(task['requester']),
    clientId: String(input?.['valueString'] ?? ''),
    requestId: String(identifier?.['value'] ?? ''),
    reason: String(objectIn(task['reasonCode'])['text'] ?? ''),
    from: new Date(String(period['start'])),
    until: new Date(String(period['end'])),
    notes: objectsIn(task['note']).map(({ authorString, time, text }) => ({
      at: new Date(String(time)),
      by: String(authorString ?? ''),
      text: String(text),
    })),
  }
}

const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {})

const idOf = (reference: unknown): string => String(objectIn(reference)['reference'] ?? '').replace(/^.*\//, '')
