// The resources of a list, the newest first: those with a clinical date and those without one, which stand where another date says.
import type { Piece } from '../lib/pieces.ts'
import { noDate } from '../store/index/draft.ts'
import { type Cursor, encodeCursor, type SearchRequest } from '../store/search/request.ts'
import { withoutDate } from '../store/search/undated.ts'
import type { Store } from '../store/store.ts'

/** What is listed: the criteria of a search of one type, but for its date. */
interface Listed {
  readonly type: string
  /** The parameter of the clinical date. */
  readonly date: string
  readonly query: readonly (readonly [string, string])[]
  /** The types of which there is something without a date. */
  readonly undated: ReadonlySet<string>
}

/** Which part of the list. */
interface Part {
  readonly since: string | undefined
  readonly until: string | undefined
  readonly limit: number
  /** Where it begins; undefined: at the beginning. */
  readonly after: string | undefined
}

interface InOrder {
  readonly bodies: readonly Piece[]
  /** Where the next part begins; undefined at the end. */
  readonly next: string | undefined
}

/** Two searches, each along its index, are merged. The place between two parts is a place in each. */
export async function inOrder(store: Store, listed: Listed, part: Part): Promise<InOrder> {
  const [dated = '', undated = ''] = part.after?.split(between) ?? []
  const [one, other] = await Promise.all([
    dated === ended ? noMore : datedOf(store, listed, part, dated),
    undated === ended ? noMore : undatedOf(store, listed, part, undated),
  ])
  const shown = [...one.matches, ...other.matches].sort((a, b) => b.at - a.at).slice(0, part.limit)
  const places = [placeAfter(one, shown, dated), placeAfter(other, shown, undated)]
  const next = places.every(place => place === ended) ? undefined : places.join(between)
  return { bodies: shown.map(({ body }) => body), next }
}

const between = '.'
/** The place of an order that has come to its end. */
const ended = '~'

interface Match {
  readonly body: Piece
  readonly at: number
  readonly place: string
}

interface Found {
  readonly matches: readonly Match[]
  readonly hasMore: boolean
}

const noMore: Found = { matches: [], hasMore: false }

function placeAfter({ matches, hasMore }: Found, shown: readonly Match[], from: string): string {
  const taken = matches.filter(match => shown.includes(match))
  return taken.length === matches.length && !hasMore ? ended : (taken.at(-1)?.place ?? from)
}

/** In the order of dates, what has none comes last: there the dated ones end. */
async function datedOf(store: Store, listed: Listed, { since, until, limit }: Part, from: string): Promise<Found> {
  const { type, date, query } = listed
  const bounds: [string, string][] = []
  if (since !== undefined) bounds.push([date, `ge${since}`])
  if (until !== undefined) bounds.push([date, `le${until}`])
  const all = [...query, ...bounds, ...paging(limit, from)]
  const { matches, hasMore } = await found(store, store.parse([type], all, true), ([at]) => Number(at))
  const dated = matches.filter(({ at }) => at > noDate)
  return { matches: dated, hasMore: hasMore && dated.length === matches.length }
}

/** Asked for only where there is something: most records have dates. */
async function undatedOf(store: Store, { type, query, undated }: Listed, part: Part, from: string): Promise<Found> {
  if (!undated.has(type)) return noMore
  const all = [...query, ['_sort', '-_lastUpdated'] as const, ...paging(part.limit, from)]
  return found(store, withoutDate(store.parse([type], all, true), part), ([at]) => Date.parse(`${at}:00`))
}

const paging = (limit: number, from: string): (readonly [string, string])[] => [
  ['_count', String(limit)],
  ...(from === '' ? [] : [['_cursor', from] as const]),
]

/** @param atOf reads the time of a match from its place */
async function found(store: Store, request: SearchRequest, atOf: (values: Cursor['values']) => number): Promise<Found> {
  const { matches, next, placeAfter: placeOf } = await store.search(request)
  return {
    matches: matches.map(({ body }, index) => {
      const place = placeOf!(index)
      return { body, at: atOf(place.values), place: encodeCursor(place) }
    }),
    hasMore: next !== undefined,
  }
}
