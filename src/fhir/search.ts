// The search interaction: by type, or across types with _type (https://hl7.org/fhir/R4/http.html#search).
import { isResourceType } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { encodeCursor, type SearchRequest } from '../store/search/request.ts'
import type { Hit } from '../store/search/run.ts'
import type { Store } from '../store/store.ts'
import { type Link, searchset } from './bundle.ts'
import { project, projectionOf } from './projection.ts'
import type { FhirReply, FhirRequest } from './request.ts'

/** Answers GET and POST searches alike; the parameters of a POST body come after those of the address. */
export async function searchOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const pairs = [...request.search, ...(request.body instanceof URLSearchParams ? request.body : [])]
  const named = request.segments[0]?.startsWith('_') ? undefined : request.segments[0]
  const types = named === undefined ? typesAcross(store, pairs) : [named]
  const search = store.parse(types, pairs, request.prefer.strict)
  const result = await store.search(search)
  const projection = projectionOf(search.summary, search.elements)
  const cut = (hit: Hit): Hit => (projection ? { ...hit, body: project(hit.body, projection) } : hit)
  const links = linksOf(request.base, named, search, result)
  const outcome = result.warnings.length > 0 ? warningOutcome(result.warnings) : undefined
  return {
    status: 200,
    body: searchset(request.base, result.matches.map(cut), result.included.map(cut), links, result.total, outcome),
  }
}

/** The types of a search across types: those of _type, else all that the caller may search. */
function typesAcross(store: Store, pairs: readonly (readonly [string, string])[]): string[] {
  const wanted = pairs.filter(([name]) => name === '_type').flatMap(([, value]) => value.split(',').filter(Boolean))
  for (const type of wanted)
    if (!isResourceType(type))
      throw new Failure('MALFORMED_REQUEST', `_type: "${type.slice(0, 60)}" is not a resource type.`)
  const types = wanted.length > 0 ? [...new Set(wanted)] : store.allowedTypes('s')
  if (types.length === 0) throw new Failure('INSUFFICIENT_SCOPE', 'The token opens no resource type for searching.')
  return types
}

function linksOf(
  base: string,
  type: string | undefined,
  search: SearchRequest,
  result: { next: SearchRequest['cursor']; previous: SearchRequest['cursor'] },
): Link[] {
  const address = type === undefined ? base : `${base}/${type}`
  const url = (cursor: SearchRequest['cursor']): string => {
    const pairs = new URLSearchParams(search.applied.map(([name, value]): [string, string] => [name, value]))
    if (cursor) pairs.append('_cursor', encodeCursor(cursor))
    const query = pairs.toString()
    return query === '' ? address : `${address}?${query}`
  }
  const links: Link[] = [{ relation: 'self', url: url(search.cursor) }]
  if (result.next || result.previous) links.push({ relation: 'first', url: url(undefined) })
  if (result.previous) links.push({ relation: 'previous', url: url(result.previous) })
  if (result.next) links.push({ relation: 'next', url: url(result.next) })
  return links
}

function warningOutcome(warnings: readonly string[]): string {
  const issue = warnings.map(message => ({
    severity: 'warning',
    code: 'not-supported',
    details: { text: message },
    diagnostics: message,
  }))
  return JSON.stringify({ resourceType: 'OperationOutcome', issue })
}
