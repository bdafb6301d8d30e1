// What each FHIR interaction answers: a table from the shape of the address to the operation on the caller's store.
// https://hl7.org/fhir/R4/http.html
import { compartments, isResourceType } from '../definitions/r4.ts'
import { Failure } from '../lib/failure.ts'
import { isId } from '../store/ids.ts'
import type { Patch } from '../store/patch/patch.ts'
import type { Store } from '../store/store.ts'
import type { Written } from '../store/write.ts'
import { isAboutTrail, trailOf } from './audit-search.ts'
import { exportOperations } from './bulk/operations.ts'
import { historyOf } from './history.ts'
import { operationMethods } from './operations.ts'
import { ownById } from './own.ts'
import { project, projectionFrom } from './projection.ts'
import { type FhirReply, type FhirRequest, isCreateOnly, versionOf } from './request.ts'
import { compartmentOf, searchOf } from './search.ts'

type Interact = (store: Store, request: FhirRequest) => Promise<FhirReply>

/**
 * Answers one interaction, transactions and batches excepted.
 * @throws Failure for everything that is not a success.
 */
export function interact(store: Store, request: FhirRequest): Promise<FhirReply> {
  const { segments } = request
  const [type] = segments
  mustNotBeBackground(segments)
  if (type !== undefined && !ofTheEndpoint.has(type) && !isResourceType(type))
    throw new Failure('NOT_FOUND', `There is no resource type "${type.slice(0, 60)}" in FHIR R4.`, {
      issue: 'not-supported',
    })
  if (isAboutTrail(request)) return trailOf(request)
  const shape = shapeOf(segments)
  if (shape?.startsWith('type/id') && request.method !== 'PUT' && !isId(segments[1]))
    throw new Failure('NOT_FOUND', `There is no such ${type}: an id is 1 to 64 letters, digits, hyphens and dots.`)
  const methods = shape?.endsWith('/$') ? operationMethods(segments) : shape === undefined ? undefined : table[shape]
  if (!methods) throw new Failure('NOT_FOUND', 'There is no such FHIR interaction.')
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const operation = methods[method]
  if (!operation) {
    const allowed = Object.keys(methods).join(', ')
    throw new Failure('METHOD_NOT_ALLOWED', `This address does not take ${method}, only ${allowed}.`, {
      headers: { allow: allowed },
    })
  }
  return operation(store, request)
}

/** What stands at the place of a type in an address and is none. */
const ofTheEndpoint: ReadonlySet<string> = new Set(['_history', '_search', 'metadata'])

/** Addresses of what works in the background, and the methods that begin it. */
const background: ReadonlyMap<string, string> = new Map([
  ['$import', 'POST'],
  ...exportOperations.map(({ path }): [string, string] => [path, 'GET, POST']),
])

/** @throws Failure METHOD_NOT_ALLOWED for an operation that works in the background: its own routes answer the methods it takes. */
function mustNotBeBackground(segments: readonly string[]): void {
  const address = segments.length === 3 ? [segments[0], '{id}', segments[2]] : segments
  const allow = background.get(address.join('/'))
  if (allow === undefined) return
  throw new Failure('METHOD_NOT_ALLOWED', `${segments.at(-1)} takes ${allow} only, in a request of its own.`, {
    headers: { allow },
  })
}

function shapeOf(segments: readonly string[]): string | undefined {
  const [first, second, third, fourth] = segments
  if (segments.length === 0) return ''
  if (ofTheEndpoint.has(first!)) return segments.length === 1 ? first : undefined
  if (segments.length === 1) return 'type'
  if (second === '_history' || second === '_search') return segments.length === 2 ? `type/${second}` : undefined
  if (second!.startsWith('$')) return segments.length === 2 ? 'type/$' : undefined
  if (segments.length === 2) return 'type/id'
  if (third!.startsWith('$')) return segments.length === 3 ? 'type/id/$' : undefined
  if (third !== '_history' && compartments.includes(first!)) return compartmentShape(segments)
  if (third !== '_history') return undefined
  return fourth === undefined ? 'type/id/_history' : segments.length === 4 ? 'type/id/_history/version' : undefined
}

/** `Patient/1/Observation`, `Patient/1/*`, and both with `_search` for POST. */
function compartmentShape([, , third, fourth, ...rest]: readonly string[]): string | undefined {
  if (third === '_search') return fourth === undefined ? 'type/id/member/_search' : undefined
  if ((third !== '*' && !isResourceType(third!)) || rest.length > 0) return undefined
  if (fourth === undefined) return 'type/id/member'
  return fourth === '_search' ? 'type/id/member/_search' : undefined
}

const table: Readonly<Record<string, Readonly<Record<string, Interact>>>> = {
  '': { GET: searchOf },
  _search: { POST: searchOf },
  _history: { GET: historyOf },
  metadata: { GET: capabilitiesOf },
  type: { GET: searchOf, POST: create, PUT: updateWhere, PATCH: patchWhere, DELETE: removeWhere },
  'type/_search': { POST: searchOf },
  'type/_history': { GET: historyOf },
  'type/id': { GET: read, PUT: update, PATCH: patch, DELETE: remove },
  'type/id/_history': { GET: historyOf },
  'type/id/member': { GET: compartmentOf },
  'type/id/member/_search': { POST: compartmentOf },
  'type/id/_history/version': { GET: readVersion },
}

async function capabilitiesOf(_store: Store, { capabilities, search }: FhirRequest): Promise<FhirReply> {
  return { status: 200, body: project(capabilities().body, projectionFrom(search)) }
}

async function read(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  const found = await store.read(type, id).catch(error => ownById(request, store, error))
  if ('url' in found) return { status: 200, body: project(found.body, projectionFrom(request.search)) }
  const { version, updatedAt, body } = found
  if (isFresh(request, version, updatedAt)) return { status: 304, version, updatedAt }
  return { status: 200, body: project(body, projectionFrom(request.search)), version, updatedAt }
}

/** True if the caller has this version already (If-None-Match wins over If-Modified-Since, RFC 9110 §13.2.2). */
function isFresh(request: FhirRequest, version: number, updatedAt: Date): boolean {
  if (request.ifNoneMatch !== undefined) {
    return request.ifNoneMatch
      .split(',')
      .some(tag => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === `"${version}"`)
  }
  const since = Date.parse(request.ifModifiedSince ?? '')
  return Number.isFinite(since) && Math.floor(updatedAt.getTime() / 1000) * 1000 <= since
}

async function readVersion(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id, , text] = request.segments as [string, string, string, string]
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Failure('NOT_FOUND', `There is no such version of ${type}/${id}: versions are numbered from 1.`)
  const { version, updatedAt, body } = await store.readVersion(type, id, Number(text))
  return { status: 200, body: project(body, projectionFrom(request.search)), version, updatedAt }
}

async function create(store: Store, request: FhirRequest): Promise<FhirReply> {
  const written = await store.create(request.segments[0]!, request.body, creationCondition(request))
  return foundReply(writtenReply(request, written), written)
}

/** The query of If-None-Exist, if there is one. @throws Failure MALFORMED_REQUEST if it is empty. */
export function creationCondition({ ifNoneExist }: FhirRequest): string | undefined {
  if (ifNoneExist?.trim() === '')
    throw new Failure(
      'MALFORMED_REQUEST',
      'If-None-Exist is empty: it must be a search, such as identifier=system|value.',
    )
  return ifNoneExist?.trim()
}

function preconditions(request: FhirRequest): { ifMatch?: number; createOnly?: boolean } {
  return { ifMatch: versionOf(request.ifMatch, 'If-Match'), createOnly: isCreateOnly(request.ifNoneMatch) }
}

async function update(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  return writtenReply(request, await store.update(type, id, request.body, preconditions(request)))
}

function conditionOf(request: FhirRequest): string {
  const query = request.search.toString()
  if (query === '')
    throw new Failure(
      'MALFORMED_REQUEST',
      'Without an id the address needs a condition, such as ?identifier=system|value.',
    )
  return query
}

async function updateWhere(store: Store, request: FhirRequest): Promise<FhirReply> {
  return writtenReply(
    request,
    await store.updateWhere(request.segments[0]!, conditionOf(request), request.body, preconditions(request)),
  )
}

/** A patch by its media type: JSON Patch, or a Parameters resource for FHIRPath Patch. */
export function patchOf(body: unknown, contentType: string | undefined): Patch {
  if (contentType === 'application/json-patch+json') return { kind: 'json', operations: body }
  if (Array.isArray(body)) return { kind: 'json', operations: body }
  return { kind: 'fhirpath', parameters: body }
}

async function patch(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  return writtenReply(
    request,
    await store.patch(type, id, patchOf(request.body, request.contentType), preconditions(request)),
  )
}

async function patchWhere(store: Store, request: FhirRequest): Promise<FhirReply> {
  return writtenReply(
    request,
    await store.patchWhere(
      request.segments[0]!,
      conditionOf(request),
      patchOf(request.body, request.contentType),
      preconditions(request),
    ),
  )
}

async function remove(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  return removedReply(await store.remove(type, id, preconditions(request)))
}

async function removeWhere(store: Store, request: FhirRequest): Promise<FhirReply> {
  return removedReply(await store.removeWhere(request.segments[0]!, conditionOf(request), preconditions(request)))
}

export function removedReply(written: Written | undefined): FhirReply {
  return written?.outcome === 'deleted' ? { status: 204, version: written.version } : { status: 204 }
}

/** The reply to a creation; what was found instead was read and not written, so it is looked for anew by a repetition. */
export const foundReply = (reply: FhirReply, { outcome }: Written): FhirReply =>
  outcome === 'unchanged' ? { ...reply, kept: null } : reply

/** The reply to a write, as the caller prefers it. */
export function writtenReply(request: Pick<FhirRequest, 'prefer'>, written: Written): FhirReply {
  const created = written.outcome === 'created'
  const { type, id, version, updatedAt } = written
  const said = {
    status: created ? 201 : 200,
    version,
    updatedAt,
    location: created ? `${type}/${id}/_history/${version}` : undefined,
  }
  if (request.prefer.return === 'minimal') return said
  if (request.prefer.return === 'representation') return { ...said, body: written.body }
  const message = `${type}/${id} was ${created ? 'created' : written.outcome} as version ${version}.`
  return {
    ...said,
    body: JSON.stringify({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'information', code: 'informational', diagnostics: message }],
    }),
  }
}
