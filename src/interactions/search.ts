// The search interaction: by type, or across types with _type (https://hl7.org/fhir/R4/http.html#search).
import { compartmentParams, isResourceType, resourceTypes, searchParams } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import type { Hit } from '../store/search/hit.ts'
import { encodeCursor, type SearchRequest } from '../store/search/request.ts'
import { membersOf } from '../store/search/sql-compartment.ts'
import type { Store } from '../store/store.ts'
import { searchTrail } from './audit-search.ts'
import { type Link, mustBeFollowed, searchset, warningOutcome } from './bundle.ts'
import { ownMatches } from './own.ts'
import { project, projectionOf } from './projection.ts'
import type { FhirReply, FhirRequest, SearchCall } from './request.ts'

/** Answers GET and POST searches alike; the parameters of a POST body come after those of the address. */
export async function searchOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const pairs = pairsOf(request)
  const path = request.segments.filter(segment => segment !== '_search')
  const types = path.length > 0 ? path : typesAcross(pairs, resourceTypes, store)
  return answer(store, request, addressOf(request, path), store.parse(types, pairs, request.prefer.strict))
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
  return answer(store, request, addressOf(request, path), { ...search, criteria })
}

/** A search about a patient at an address of its own. */
export interface AboutPatient {
  /** Ids of the Patients, which are one person. */
  readonly patients: readonly string[]
  /** Address of the search, for the links of its pages. It names the patient, so that the links need not. */
  readonly address: string
}

/**
 * Searches the resources of a type about a patient: `segments` are the type alone.
 * @throws Failure NOT_FOUND for a type that is not about patients.
 */
export async function patientSearchOf(
  store: Store,
  request: SearchCall,
  { patients, address }: AboutPatient,
): Promise<FhirReply> {
  const type = request.segments[0]!
  const own = criterionOf(type, patients)
  if (type === 'AuditEvent') return searchTrail(request, { address, own })
  const search = store.parse([type], [own, ...pairsOf(request)], request.prefer.strict)
  return answer(store, request, address, search, search.applied.slice(1))
}

const criterionOf = (type: string, patients: readonly string[]): [string, string] =>
  type === 'Patient'
    ? ['_id', patients.join(',')]
    : [patientParamOf(type), patients.map(id => `Patient/${id}`).join(',')]

/** Returns the search parameter by which resources of a type are about a patient. @throws Failure NOT_FOUND if there is none. */
function patientParamOf(type: string): string {
  const names = compartmentParams('Patient', type)
  const name = ['patient', 'subject'].find(each => searchParams(type).has(each)) ?? names[0]
  if (names.length > 0 && name !== undefined) return name
  throw new Failure('NOT_FOUND', `${type.slice(0, 60)} is not a resource type about a patient.`)
}

function pairsOf(request: SearchCall): [string, string][] {
  return [...request.search, ...(request.body instanceof URLSearchParams ? request.body : [])]
}

const addressOf = ({ base }: FhirRequest, path: readonly string[]): string => [base, ...path].join('/')

async function answer(
  store: Store,
  request: SearchCall,
  address: string,
  search: SearchRequest,
  linked = search.applied,
): Promise<FhirReply> {
  const projection = projectionOf(search.summary, search.elements)
  const memory = projection ? undefined : request.memory
  const result = await store.search(search, memory)
  const own = ownMatches(request, search, result.matches)
  const listed = search.summary === 'count' || search.count === 0 ? [] : own
  const { base } = request
  const cut = (hit: Hit): Hit => (projection ? { ...hit, body: project(String(hit.body), projection) } : hit)
  const links = linksOf(address, linked, search.cursor, result)
  mustBeFollowed(links)
  const outcome = warningOutcome(result.warnings, result.withheld)
  const matches = [...listed, ...result.matches].map(cut)
  const included = result.included.map(cut)
  const total = result.total === undefined ? undefined : result.total + own.length
  const body = searchset(base, matches, included, links, total, outcome)
  return { status: 200, body, found: matches.length + included.length }
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
  linked: SearchRequest['applied'],
  here: SearchRequest['cursor'],
  result: { next: SearchRequest['cursor']; previous: SearchRequest['cursor'] },
): Link[] {
  const url = (cursor: SearchRequest['cursor']): string => {
    const pairs = new URLSearchParams(linked.map(([name, value]): [string, string] => [name, value]))
    if (cursor) pairs.append('_cursor', encodeCursor(cursor))
    const query = pairs.toString()
    return query === '' ? address : `${address}?${query}`
  }
  const links: Link[] = [{ relation: 'self', url: url(here) }]
  if (result.next || result.previous) links.push({ relation: 'first', url: url(undefined) })
  if (result.previous) links.push({ relation: 'previous', url: url(result.previous) })
  if (result.next) links.push({ relation: 'next', url: url(result.next) })
  return links
}
