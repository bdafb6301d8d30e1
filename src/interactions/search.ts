// The search interaction: by type, or across types with _type (https://hl7.org/fhir/R4/http.html#search).
import { isResourceType, resourceTypes } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import type { Hit } from '../store/search/hit.ts'
import { encodeCursor, type SearchRequest } from '../store/search/request.ts'
import { membersOf } from '../store/search/sql-compartment.ts'
import type { Store } from '../store/store.ts'
import { type Link, searchset, warningOutcome } from './bundle.ts'
import { ownMatches } from './own.ts'
import { project, projectionOf } from './projection.ts'
import type { FhirReply, FhirRequest } from './request.ts'

/** Answers GET and POST searches alike; the parameters of a POST body come after those of the address. */
export async function searchOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const pairs = pairsOf(request)
  const path = request.segments.filter(segment => segment !== '_search')
  const types = path.length > 0 ? path : typesAcross(pairs, resourceTypes, store)
  return answer(store, request, path, store.parse(types, pairs, request.prefer.strict))
}

/** `Patient/1/Observation` and `Encounter/1/*`: a search within a compartment (https://hl7.org/fhir/R4/http.html#vsearch). */
export async function compartmentOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const pairs = pairsOf(request)
  const path = request.segments.filter(segment => segment !== '_search')
  const [of, id, type = '*'] = path as [string, string, string | undefined]
  const possible = membersOf(of)
  const types = type === '*' ? typesAcross(pairs, possible, store) : [type]
  for (const each of types)
    if (!possible.includes(each))
      throw new Failure('MALFORMED_REQUEST', `${each} resources are not part of the compartment of a ${of}.`, {
        issue: 'not-supported',
      })
  const search = store.parse(types, pairs, request.prefer.strict)
  const criteria = [{ kind: 'compartment', types, of, id } as const, ...search.criteria]
  return answer(store, request, path, { ...search, criteria })
}

function pairsOf(request: FhirRequest): [string, string][] {
  return [...request.search, ...(request.body instanceof URLSearchParams ? request.body : [])]
}

async function answer(
  store: Store,
  request: FhirRequest,
  path: readonly string[],
  search: SearchRequest,
): Promise<FhirReply> {
  const result = await store.search(search)
  const own = ownMatches(request, search, result.matches)
  const listed = search.summary === 'count' || search.count === 0 ? [] : own
  const { base } = request
  const projection = projectionOf(search.summary, search.elements)
  const cut = (hit: Hit): Hit => (projection ? { ...hit, body: project(hit.body, projection) } : hit)
  const links = linksOf([base, ...path].join('/'), search, result)
  const outcome = warningOutcome(result.warnings, result.withheld)
  return {
    status: 200,
    body: searchset(
      base,
      [...listed, ...result.matches].map(cut),
      result.included.map(cut),
      links,
      result.total === undefined ? undefined : result.total + own.length,
      outcome,
    ),
  }
}

/** The types of a search across types: those of _type, else all of the possible ones that the caller may search. */
function typesAcross(
  pairs: readonly (readonly [string, string])[],
  possible: readonly string[],
  store: Store,
): string[] {
  const wanted = typesNamed(pairs)
  const allowed = new Set(store.allowedTypes('s'))
  const types = wanted.length > 0 ? wanted : possible.filter(type => allowed.has(type))
  if (types.length === 0) throw new Failure('INSUFFICIENT_SCOPE', 'The token permits searching no resource type.')
  return types
}

/** The types that _type names, each once. @throws Failure MALFORMED_REQUEST for one that is none. */
export function typesNamed(pairs: readonly (readonly [string, string])[]): string[] {
  const wanted = pairs.filter(([name]) => name === '_type').flatMap(([, value]) => value.split(',').filter(Boolean))
  for (const type of wanted)
    if (!isResourceType(type))
      throw new Failure('MALFORMED_REQUEST', `_type: "${type.slice(0, 60)}" is not a resource type.`)
  return [...new Set(wanted)]
}

function linksOf(
  address: string,
  search: SearchRequest,
  result: { next: SearchRequest['cursor']; previous: SearchRequest['cursor'] },
): Link[] {
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
