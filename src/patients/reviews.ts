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
export async function isAskedAlready(store: Store, on: Queryable, pair: readonly [string, string]): Promise<boolean> {
  const reviews = await reviewsAbout(store, pair)
  const own = await writtenByService(
    on,
    reviews.map(({ id }) => id),
  )
  return reviews.some(({ id, task }) => own.has(id) && isAbout(task, pair))
}

function isAbout(task: JsonObject, pair: readonly string[]): boolean {
  const { focus } = comparedIn(task)
  const other = pair.find(each => each !== focus)!
  if (!pair.includes(focus ?? '')) return false
  const isApart = settledIn(task).some(({ patient, outcome }) => patient === other && outcome === 'kept-apart')
  return isApart || (task['status'] === 'requested' && openIn(task).includes(other))
}
