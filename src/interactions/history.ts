// The history interaction: of a resource, a type, or everything (https://hl7.org/fhir/R4/http.html#history).
import { Failure } from '../lib/failure.ts'
import { dateInterval, latest } from '../store/dates.ts'
import type { HistoryPlace } from '../store/history.ts'
import { isId } from '../store/ids.ts'
import type { Store } from '../store/store.ts'
import { typeNumber } from '../store/type-number.ts'
import type { Version } from '../store/versions.ts'
import { historyBundle, type Link } from './bundle.ts'
import type { FhirReply, FhirRequest } from './request.ts'

const mostVersions = 1000

/** Answers a history request; unknown parameters are ignored. */
export async function historyOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments.filter(segment => segment !== '_history')
  const count = countOf(request.search.get('_count'))
  const place = placeOf(request.search.get('_cursor'))
  const since = interval(request.search, '_since')?.low
  const { versions: found, total } = await store.history({
    type,
    id,
    count,
    since,
    at: interval(request.search, '_at'),
    after: place?.after,
    before: place?.before,
    memory: request.memory,
  })
  const more = found.length > count
  const shown = more ? (place?.before ? found.slice(1) : found.slice(0, count)) : found
  const address = `${request.base}/${request.segments.join('/')}`
  const links: Link[] = [{ relation: 'self', url: linkTo(address, request.search) }]
  const hasNext = place?.before ? true : more
  const hasPrevious = place?.before ? more : place?.after !== undefined
  if (hasPrevious && shown[0])
    links.push({ relation: 'previous', url: linkTo(address, request.search, ['b', shown[0]]) })
  if (hasNext && shown.at(-1))
    links.push({ relation: 'next', url: linkTo(address, request.search, ['a', shown.at(-1)!]) })
  return { status: 200, body: historyBundle(request.base, shown, links, total) }
}

function countOf(text: string | null): number {
  if (text === null) return 50
  if (!/^\d+$/.test(text)) throw new Failure('MALFORMED_REQUEST', '_count must be a whole number.')
  return Math.min(Number(text), mostVersions)
}

function interval(search: URLSearchParams, name: string): { low: number; high: number } | undefined {
  const text = search.get(name)
  if (!text) return undefined
  const found = dateInterval(text.replace(' ', '+'))
  if (!found) throw new Failure('MALFORMED_REQUEST', `${name} must be an instant, such as 2024-05-31T14:00:00Z.`)
  return found
}

const understood = ['_count', '_since', '_at', '_cursor']

function linkTo(address: string, search: URLSearchParams, place?: ['a' | 'b', Version]): string {
  const query = new URLSearchParams([...search].filter(([name]) => understood.includes(name)))
  if (place) {
    const [side, { updatedAt, type, id, version }] = place
    query.set(
      '_cursor',
      Buffer.from(JSON.stringify([side, updatedAt.getTime(), typeNumber(type), id, version])).toString('base64url'),
    )
  }
  const text = query.toString()
  return text === '' ? address : `${address}?${text}`
}

function placeOf(cursor: string | null): { after?: HistoryPlace; before?: HistoryPlace } | undefined {
  if (cursor === null) return undefined
  const wrong = new Failure('MALFORMED_REQUEST', 'The page link is not valid: follow the links of the previous page.')
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    throw wrong
  }
  if (!Array.isArray(parts) || parts.length !== 5) throw wrong
  const [side, time, type, id, version] = parts
  const isWithin = (value: unknown, low: number, high: number): boolean =>
    Number.isInteger(value) && (value as number) >= low && (value as number) <= high
  if (!isWithin(time, 0, latest) || !isWithin(type, 0, 999) || !isWithin(version, 0, 2 ** 31 - 1) || !isId(id))
    throw wrong
  const place: HistoryPlace = { time, type, id, version }
  if (side === 'a') return { after: place }
  if (side === 'b') return { before: place }
  throw wrong
}
