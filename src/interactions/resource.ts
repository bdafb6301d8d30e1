// What the interactions on resources do: read, create, update, patch, delete, each answered as HTTP and bundles need it.
// https://hl7.org/fhir/R4/http.html
import { Failure } from '../lib/failure.ts'
import type { Patch } from '../store/patch/patch.ts'
import type { Store } from '../store/store.ts'
import type { Written } from '../store/write/next-version.ts'
import { ownById } from './own.ts'
import { project, projectionFrom } from './projection.ts'
import { type FhirReply, type FhirRequest, isCreateOnly, versionOf } from './request.ts'

export async function capabilitiesOf(_store: Store, { capabilities, search }: FhirRequest): Promise<FhirReply> {
  return { status: 200, body: project(capabilities().body, projectionFrom(search)) }
}

export async function read(store: Store, request: FhirRequest): Promise<FhirReply> {
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

export async function readVersion(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id, , text] = request.segments as [string, string, string, string]
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Failure('NOT_FOUND', `There is no such version of ${type}/${id}: versions are numbered from 1.`)
  const { version, updatedAt, body } = await store.readVersion(type, id, Number(text))
  return { status: 200, body: project(body, projectionFrom(request.search)), version, updatedAt }
}

export async function create(store: Store, request: FhirRequest): Promise<FhirReply> {
  const written = await store.create(request.segments[0]!, request.body, creationCondition(request))
  return foundReply(writtenReply(request, written), written)
}

/** The query of If-None-Exist, if there is one. @throws Failure MALFORMED_REQUEST if it is empty. */
export function creationCondition({ ifNoneExist }: FhirRequest): string | undefined {
  if (ifNoneExist?.trim() === '')
    throw new Failure(
      'MALFORMED_REQUEST',
      'If-None-Exist must not be empty: send a search, such as identifier=system|value.',
    )
  return ifNoneExist?.trim()
}

function preconditions(request: FhirRequest): { ifMatch?: number; createOnly?: boolean } {
  return { ifMatch: versionOf(request.ifMatch, 'If-Match'), createOnly: isCreateOnly(request.ifNoneMatch) }
}

export async function update(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  return writtenReply(request, await store.update(type, id, request.body, preconditions(request)))
}

function conditionOf(request: FhirRequest): string {
  const query = request.search.toString()
  if (query === '')
    throw new Failure(
      'MALFORMED_REQUEST',
      'An address without an id requires a condition, such as ?identifier=system|value.',
    )
  return query
}

export async function updateWhere(store: Store, request: FhirRequest): Promise<FhirReply> {
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

export async function patch(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  return writtenReply(
    request,
    await store.patch(type, id, patchOf(request.body, request.contentType), preconditions(request)),
  )
}

export async function patchWhere(store: Store, request: FhirRequest): Promise<FhirReply> {
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

export async function remove(store: Store, request: FhirRequest): Promise<FhirReply> {
  const [type, id] = request.segments as [string, string]
  return removedReply(await store.remove(type, id, preconditions(request)))
}

export async function removeWhere(store: Store, request: FhirRequest): Promise<FhirReply> {
  return removedReply(await store.removeWhere(request.segments[0]!, conditionOf(request), preconditions(request)))
}

export function removedReply(written: Written | undefined): FhirReply {
  return written?.outcome === 'deleted' ? { status: 204, version: written.version } : { status: 204 }
}

/**
 * Returns the reply to a creation. A resource that was found instead was read and not written, so a repetition searches
 * again.
 */
export const foundReply = (reply: FhirReply, { outcome }: Written): FhirReply =>
  outcome === 'unchanged' ? { ...reply, kept: null } : reply

/**
 * The reply to a write, as the caller prefers it. Without the resource in it, the location says which one a condition led to.
 * https://hl7.org/fhir/R4/http.html#ops
 */
export function writtenReply(request: Pick<FhirRequest, 'prefer' | 'segments'>, written: Written): FhirReply {
  const created = written.outcome === 'created'
  const { type, id, version, updatedAt } = written
  const hasBody = request.prefer.return === 'representation'
  const isTold = created || (!hasBody && request.segments.length === 1)
  const said = {
    status: created ? 201 : 200,
    version,
    updatedAt,
    location: isTold ? `${type}/${id}/_history/${version}` : undefined,
  }
  if (hasBody) return { ...said, body: written.body }
  if (request.prefer.return === 'minimal') return said
  const message = `${type}/${id} was ${created ? 'created' : written.outcome} as version ${version}.`
  return {
    ...said,
    body: JSON.stringify({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'information', code: 'informational', diagnostics: message }],
    }),
  }
}
