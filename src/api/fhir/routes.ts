// The FHIR surface over HTTP: headers in, headers out; what an interaction means is in interact.ts.

import type { Caller } from '../../access/caller.ts'
import type { AuditReader } from '../../audit/reader.ts'
import { searchParams } from '../../definitions/r4.ts'
import { mediaType } from '../../http/body.ts'
import { headerOf, open, type Reply, type Route, route } from '../../http/route.ts'
import { processBundle } from '../../interactions/batch.ts'
import { type Capabilities, createCapabilities } from '../../interactions/capabilities.ts'
import { interact } from '../../interactions/interact.ts'
import { fhirJson, mustAcceptJson, mustBeR4, resourceTypesTaken } from '../../interactions/negotiate.ts'
import type { People } from '../../interactions/people.ts'
import { project, projectionFrom } from '../../interactions/projection.ts'
import { type FhirReply, type FhirRequest, preferences } from '../../interactions/request.ts'
import { sentBody } from '../../interactions/sent.ts'
import { Memory } from '../../lib/blocks.ts'
import type { Log } from '../../lib/log.ts'
import { Type } from '../../lib/schema.ts'
import type { MapService } from '../../mapping/service.ts'
import type { Base } from '../../store/base.ts'
import { fhirBase } from '../../store/base.ts'
import type { SearchParams } from '../../store/search-params/known.ts'
import type { Store } from '../../store/store.ts'
import { contentReply, isContentRead, uploaded } from './binary.ts'
import { interactionRoutes } from './interaction-routes.ts'
import { operationRoutes } from './operation-routes.ts'
import { type Answer, Bundle, common, type Request, Resource, reads, SearchQuery } from './route-shapes.ts'

export interface FhirParts {
  readonly storeFor: (caller: Caller) => Store
  /** What can be searched by at the moment. */
  readonly searchParams: () => SearchParams
  readonly mapsFor: (client: string) => MapService
  readonly peopleFor: (caller: Caller) => People
  readonly trailFor: (caller: Caller) => AuditReader
  readonly log: Log
  readonly version: string
  readonly base: Base
}

interface Parts extends FhirParts {
  readonly capabilities: Capabilities
}

/** What the parameters ask for, those of a search by POST included. */
function formatOf({ search, body }: Request): string | null {
  return search.get('_format') ?? (body instanceof URLSearchParams ? body.get('_format') : null)
}

/** Reads an HTTP request as a FHIR interaction. @throws Failure NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE. */
function fhirRequest(request: Request, { mapsFor, peopleFor, trailFor, capabilities }: Parts): FhirRequest {
  const segments = request.path
    .slice(fhirBase.length + 1)
    .split('/')
    .filter(Boolean)
    .map(decodeURIComponent)
  const isRead = isContentRead({ method: request.method, segments })
  const sent = Buffer.isBuffer(request.body) ? uploaded(request) : undefined
  if (!isRead && !sent?.isContent) mustAcceptJson(headerOf(request, 'accept'), formatOf(request))
  mustBeR4(headerOf(request, 'content-type'))
  const prefer = headerOf(request, 'prefer')
  return {
    method: request.method,
    segments,
    // What is kept of a Binary is decided once it is known whether it is returned as a resource.
    search: isRead ? new URLSearchParams() : request.search,
    body: sent ? sent.resource : request.body,
    contentType: mediaType(headerOf(request, 'content-type')),
    ifMatch: headerOf(request, 'if-match'),
    ifNoneMatch: headerOf(request, 'if-none-match'),
    ifModifiedSince: headerOf(request, 'if-modified-since'),
    ifNoneExist: headerOf(request, 'if-none-exist'),
    // A client that sends a file does not receive it back in base64, unless it asks for it.
    prefer: preferences(sent?.isContent && !prefer?.includes('return=') ? `return=minimal, ${prefer ?? ''}` : prefer),
    memory: new Memory(),
    base: `${request.baseUrl}${fhirBase}`,
    maps: mapsFor(request.caller.clientId),
    people: peopleFor(request.caller),
    trail: trailFor(request.caller),
    capabilities: () => capabilities(request.baseUrl),
  }
}

async function httpReply(reply: FhirReply, fhir: FhirRequest): Promise<Reply> {
  const { status, body, kept, version, updatedAt, location } = reply
  const headers: Record<string, string> = {}
  if (version !== undefined) headers['etag'] = `W/"${version}"`
  if (updatedAt) headers['last-modified'] = updatedAt.toUTCString()
  if (location) headers['location'] = `${fhir.base}/${location}`
  if (body !== undefined) headers['content-type'] = `${fhirJson}; charset=utf-8`
  return { status, headers, body: await sentBody(reply, fhir), kept }
}

/** A Binary as its caller wants it: its content, or the resource. */
async function binaryReply(request: Request, fhir: FhirRequest, reply: FhirReply): Promise<Reply> {
  const { body } = reply
  const asResource = await httpReply(reply, fhir)
  if (typeof body !== 'string') return asResource
  const { 'content-type': _type, ...headers } = asResource.headers ?? {}
  const content = contentReply(request, fhir.segments[1]!, headers, body)
  return content ?? httpReply({ ...reply, body: project(body, projectionFrom(request.search)) }, fhir)
}

/** A caller that sees everything may receive the same reply again. */
const toKeep = ({ caller }: Request, reply: FhirReply): FhirReply =>
  caller.visibility ? reply : { ...reply, kept: undefined }

/** Every route below /api/fhir/R4. */
export function fhirRoutes(given: FhirParts): Route[] {
  const parts: Parts = { ...given, capabilities: createCapabilities(given) }
  const answer = async (request: Request): Promise<Reply> => {
    const fhir = fhirRequest(request, parts)
    const reply = toKeep(request, await interact(parts.storeFor(request.caller), fhir))
    return isContentRead(fhir) ? binaryReply(request, fhir, reply) : httpReply(reply, fhir)
  }
  return [
    metadataRoute(parts.capabilities),
    bundleRoute(parts),
    ...publishedTypes.map(type => namedSearch(answer, type)),
    ...operationRoutes(answer),
    ...interactionRoutes(answer),
  ]
}

/** The types that the interface names one by one (§4.3): their search is described with every parameter they have. */
const publishedTypes = [
  'AllergyIntolerance',
  'Condition',
  'Consent',
  'Coverage',
  'DiagnosticReport',
  'DocumentReference',
  'Encounter',
]

function namedSearch(answer: Answer, type: string): Route {
  const own = [...searchParams(type).values()].filter(param => param.type !== 'special')
  const fields = own.map(param => [
    param.code,
    Type.Optional(Type.String({ description: `${param.type}: ${param.description}` })),
  ])
  const query = Type.Object(
    { ...SearchQuery.properties, ...Object.fromEntries(fields) },
    { additionalProperties: true },
  )
  return reads(answer, {
    path: `${fhirBase}/${type}`,
    sharesAddress: true,
    operationId: `search${type}`,
    summary: `Search ${type} resources`,
    query,
  })
}

function bundleRoute(parts: Parts): Route {
  return route({
    ...common,
    method: 'POST',
    path: fhirBase,
    operationId: 'transaction',
    summary: 'Process a batch or transaction Bundle',
    description: 'A transaction succeeds or fails as a whole. The entries of a batch are independent of each other.',
    body: Bundle,
    checksOwnBody: true,
    consumes: resourceTypesTaken,
    replies: { 200: Bundle },
    async handle(request) {
      const fhir = fhirRequest(request, parts)
      const report = (error: unknown): void =>
        parts.log.error({ requestId: request.requestId, err: error }, 'a batch entry failed')
      return httpReply(toKeep(request, await processBundle(parts.storeFor(request.caller), fhir, report)), fhir)
    },
  })
}

function metadataRoute(capabilities: Capabilities): Route {
  return route({
    method: 'GET',
    path: `${fhirBase}/metadata`,
    tag: 'FHIR',
    operationId: 'capabilities',
    summary: 'Get the CapabilityStatement',
    access: open,
    replies: { 200: Resource, 304: null },
    produces: fhirJson,
    handle({ headers: { accept, 'if-none-match': known }, search, baseUrl }) {
      mustAcceptJson(accept, search.get('_format'))
      const { body, etag } = capabilities(baseUrl)
      const headers = { etag, 'cache-control': 'public, max-age=60' }
      if (known === etag) return { status: 304, headers }
      const shown = project(body, projectionFrom(search))
      return { status: 200, headers: { ...headers, 'content-type': `${fhirJson}; charset=utf-8` }, body: shown }
    },
  })
}
