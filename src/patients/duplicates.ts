// Possible duplicates as people review them: which pairs an organisation answers for, and what becomes of each. An organisation answers
// for pairs of which its clients and agents created both records; administrators answer for all. The other record of a pair may be one
// that the organisation must not know of.

import { onBehalfOf, system, type UserCaller } from '../access/caller.ts'
import { recordedBy, reviewingFor, writtenByService } from '../access/reviews.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, objectsIn, parseJson } from '../lib/json.ts'
import { comparedIn, type Likeness, likenessesIn, openIn, type Settled, settledIn } from '../mpi/register/review.ts'
import { asOperation } from '../store/operation.ts'
import { encodeCursor } from '../store/search/request.ts'
import type { Acting } from '../store/unit-of-work.ts'
import { authorsOf } from './authors.ts'
import type { ReadPatient } from './merge.ts'
import { reviewCode } from './reviews.ts'

/** The question whether a patient is one of others. */
export interface DuplicateReview {
  /** Of the Task. */
  readonly id: string
  readonly version: number
  /** When it was asked. */
  readonly since: Date
  /** Id of the patient that it is about. */
  readonly subject: string
  /** Those of the others that the user may compare, the likeliest first, as the matcher explained them. */
  readonly likenesses: readonly Likeness[]
  /** Ids of those who are not settled. */
  readonly open: readonly string[]
  readonly settled: readonly Settled[]
  readonly notes: readonly { readonly at: Date; readonly by: string; readonly text: string }[]
}

export interface DuplicatePage {
  readonly reviews: readonly DuplicateReview[]
  /** The Patients in question, by id; those that are deleted are not among them. */
  readonly people: ReadonlyMap<string, ReadPatient>
  /** Where the next page begins. */
  readonly next: string | undefined
}

/** What is read at once; a page has as many at least, if there are as many. */
const batch = 25
/** Batches that are looked through for one page. */
const mostBatches = 40

/**
 * Returns open questions that the user answers for, the oldest first. With many questions of others in between, a page may hold few,
 * or none, and still have a next one.
 * @param after where the page begins: `next` of the one before
 */
export function listDuplicates(parts: Acting, caller: UserCaller, after: string | undefined): Promise<DuplicatePage> {
  return asOperation(caller, { type: 'Task', query: 'portal/duplicates' }, async inner => {
    const reviews: DuplicateReview[] = []
    let next = after
    for (let read = 0; read < mostBatches && reviews.length < batch; read++) {
      const query = { status: 'requested', _sort: 'authored-on', ...(next !== undefined && { _cursor: next }) }
      const found = await search(parts, inner, query)
      reviews.push(...found.reviews.filter(({ open }) => open.length > 0))
      next = found.next
      if (next === undefined) break
    }
    const ids = [...new Set(reviews.flatMap(({ subject, open }) => [subject, ...open]))]
    const people = await readPeople(parts, inner, ids)
    return { result: { reviews, people, next }, patients: ids, resources: people.size }
  })
}

/** Returns one question, open or not, and the people in it. @throws Failure NOT_FOUND for one that the user does not answer for */
export function duplicateReview(
  parts: Acting,
  caller: UserCaller,
  id: string,
): Promise<Omit<DuplicatePage, 'next' | 'reviews'> & { readonly review: DuplicateReview }> {
  return asOperation(caller, { type: 'Task', id, query: `portal/duplicates/${id}` }, async inner => {
    const review = await reviewOf(parts, inner, id)
    const ids = [review.subject, ...review.likenesses.map(({ patient }) => patient)]
    const people = await readPeople(parts, inner, ids)
    return { result: { review, people }, patients: ids, resources: people.size }
  })
}

/** Returns what became of a candidate (id); `closed`: the question ended without an answer about this one. */
export function outcomeFor(
  { subject, open, settled }: DuplicateReview,
  candidate: string,
): 'open' | 'merged' | 'kept-apart' | 'closed' {
  if (open.includes(candidate)) return 'open'
  const own = settled.find(({ patient, outcome }) => patient === candidate && outcome !== 'merged-into')?.outcome
  if (own === 'merged' || own === 'kept-apart') return own
  // The last merge of a question names the record that remains.
  const remains = settled.find(({ outcome }) => outcome === 'merged-into')?.patient
  return remains === subject || remains === candidate ? 'merged' : 'closed'
}

/** @throws Failure NOT_FOUND */
export async function reviewOf(parts: Acting, caller: UserCaller, id: string): Promise<DuplicateReview> {
  const [review] = (await search(parts, caller, { _id: id })).reviews
  if (review) return review
  throw new Failure('NOT_FOUND', 'There is no such question about records that your organisation created.')
}

/** Returns the Patients with these ids that are stored. */
export async function readPeople(
  { storeFor }: Acting,
  caller: UserCaller,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReadPatient>> {
  if (ids.length === 0) return new Map()
  const store = storeFor(onBehalfOf(caller, { Patient: 's' }))
  const query = Object.entries({ _id: ids.join(','), _count: String(ids.length) })
  const { matches } = await store.search(store.parse(['Patient'], query, true))
  return new Map(
    matches.map(({ id, body }) => {
      const patient = parseJson(body) as JsonObject
      return [id, { patient, version: versionOf(patient) }]
    }),
  )
}

const versionOf = ({ meta }: JsonObject): number => Number(isObject(meta) ? meta['versionId'] : 0)

/** Returns the questions that a search finds, as far as the user answers for them. */
async function search(
  parts: Acting,
  caller: UserCaller,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly reviews: DuplicateReview[]; readonly next: string | undefined }> {
  const organization = reviewingFor(caller)
  const on = parts.databaseFor(caller)
  // Read for the service, since a user sees but a part of what is found.
  const store = parts.storeFor({ ...system, within: caller.within, database: caller.database })
  const pairs = Object.entries({ ...query, code: reviewCode, _count: String(batch) })
  const { matches, next } = await store.search(store.parse(['Task'], pairs, true))
  const tasks = matches.map(({ body }) => parseJson(body) as JsonObject)
  const own = await writtenByService(
    on,
    tasks.map(each => String(each['id'])),
  )
  const reviews = tasks.filter(each => own.has(String(each['id']))).flatMap(asReview)
  const place = next && encodeCursor(next)
  if (organization === undefined) return { reviews, next: place }
  const named = reviews.flatMap(({ subject, likenesses }) => [subject, ...likenesses.map(({ patient }) => patient)])
  const known = await recordedBy(on, 'Patient', [...new Set(named)], await authorsOf(on, organization))
  return { reviews: reviews.flatMap(each => within(each, known)), next: place }
}

function asReview(task: JsonObject): DuplicateReview[] {
  const { focus } = comparedIn(task)
  if (focus === undefined) return []
  return [
    {
      id: String(task['id']),
      version: versionOf(task),
      since: new Date(String(task['authoredOn'])),
      subject: focus,
      likenesses: likenessesIn(task),
      open: task['status'] === 'requested' ? openIn(task) : [],
      settled: settledIn(task),
      notes: objectsIn(task['note']).map(({ authorString, time, text }) => ({
        at: new Date(String(time)),
        by: String(authorString ?? ''),
        text: String(text),
      })),
    },
  ]
}

/** Returns the question as far as it is about known patients (ids). */
function within(review: DuplicateReview, known: ReadonlySet<string>): DuplicateReview[] {
  const likenesses = review.likenesses.filter(({ patient }) => known.has(patient))
  if (!known.has(review.subject) || likenesses.length === 0) return []
  const open = review.open.filter(each => known.has(each))
  const settled = review.settled.filter(({ patient }) => known.has(patient))
  // A note may be about the others.
  return [
    { ...review, likenesses, open, settled, notes: likenesses.length < review.likenesses.length ? [] : review.notes },
  ]
}
