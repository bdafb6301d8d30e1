// The review Tasks about patients who may be one: which there are, and whether a pair was asked about already.
import { writtenByService } from '../access/reviews.ts'
import type { Queryable } from '../db/statement.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import { comparedIn, openIn, possibleDuplicate, settledIn } from '../mpi/register/review.ts'
import type { Store } from '../store/store.ts'

/** Most Tasks about one patient that are looked at. */
const most = 1000

/** What is searched for to find these Tasks. */
export const reviewCode = `${possibleDuplicate.system}|${possibleDuplicate.code}`

/** Returns the review Tasks with one of the patients (ids) as their subject. @param store of the service itself */
export async function reviewsAbout(
  store: Store,
  patients: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly id: string; readonly task: JsonObject }[]> {
  const focus = patients.map(each => `Patient/${each}`).join(',')
  const query = Object.entries({ code: reviewCode, focus, ...more, _count: String(most) })
  const { matches } = await store.search(store.parse(['Task'], query, true))
  return matches.map(({ id, body }) => ({ id, task: parseJson(body) as JsonObject }))
}

/** True if it is in question already whether two patients (ids) are one, or a person decided that they are not. */
export const isAskedAlready = (store: Store, on: Queryable, pair: Pair): Promise<boolean> =>
  hasOwn(store, on, pair, (task, other) => isApart(task, other) || isOpen(task, other))

/** True if a person decided that two patients (ids) are not one. */
export const isKeptApart = (store: Store, on: Queryable, pair: Pair): Promise<boolean> =>
  hasOwn(store, on, pair, isApart)

type Pair = readonly [string, string]

/** True if a review Task of the service has one of the two as its subject, and is so about the other. */
async function hasOwn(
  store: Store,
  on: Queryable,
  pair: Pair,
  isSo: (task: JsonObject, other: string) => boolean,
): Promise<boolean> {
  const reviews = await reviewsAbout(store, pair)
  const own = await writtenByService(
    on,
    reviews.map(({ id }) => id),
  )
  return reviews.some(({ id, task }) => {
    const { focus } = comparedIn(task)
    const [one, other] = pair
    return own.has(id) && (focus === one || focus === other) && isSo(task, focus === one ? other : one)
  })
}

const isApart = (task: JsonObject, other: string): boolean =>
  settledIn(task).some(({ patient, outcome }) => patient === other && outcome === 'kept-apart')

const isOpen = (task: JsonObject, other: string): boolean =>
  task['status'] === 'requested' && openIn(task).includes(other)
