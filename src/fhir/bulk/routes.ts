// The routes of Bulk Data: orders that are taken and answered with 202, and what is told and handed out of them afterwards.
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Type } from 'typebox'
import type { Database, Queryable } from '../../db/database.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { mediaType } from '../../http/body.ts'
import { fhirBase } from '../../http/failures.ts'
import { bearer, type Reply, type Route, type RouteRequest, reply, route } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { uuidv7 } from '../../lib/ids.ts'
import type { Caller } from '../../policy/caller.ts'
import type { Store } from '../../store/store.ts'
import { fhirJson, mustBeR4, resourceTypesTaken } from '../negotiate.ts'
import { preferences } from '../request.ts'
import { Resource } from '../route-shapes.ts'
import { filesOf, findFile } from './files.ts'
import type { Folder } from './folder.ts'
import { readManifest } from './import-order.ts'
import { createInputs, inputName, inputsOf, type NewInput } from './inputs.ts'
import { createJob, findJob, type JobLimits, mustHaveRoom, type NewJob, removeJob } from './jobs.ts'
import { statusReply } from './manifest.ts'
import { type BulkOperation, exportOperations, exportParameters } from './operations.ts'
import { type ExportOrder, readOrder } from './order.ts'
import { membersOf, namedPatients } from './patients.ts'
import { type Origins, save } from './receive.ts'

export interface BulkParts {
  readonly database: Database
  readonly storeFor: (caller: Caller) => Store
  readonly folder: Folder
  readonly limits: JobLimits
  readonly importBytes: number
  readonly origins: Origins
  readonly now: () => Date
  /** Tells the runner of this process that there is a job. */
  readonly wake: () => void
}

type Request = RouteRequest<unknown, unknown, unknown>

/** The routes; they go before those of the FHIR surface, whose addresses are more general. */
export function bulkRoutes(parts: BulkParts): Route[] {
  return [
    ...exportOperations.flatMap(each => exportRoutes(parts, each)),
    importRoute(parts),
    statusRoute(parts),
    cancelRoute(parts),
    fileRoute(parts),
  ]
}

const common = { tag: 'Bulk Data', access: bearer() }
const JobPath = Type.Object({ job: Type.String({ description: 'Id of the export or import.' }) })
const FilePath = Type.Object({ ...JobPath.properties, file: Type.String({ description: 'Name of the file.' }) })
const ndjson = 'application/fhir+ndjson'
const ndjsonTypes = [ndjson, 'application/ndjson', 'application/x-ndjson']

function exportRoutes(parts: BulkParts, operation: BulkOperation): Route[] {
  const shape = {
    ...common,
    path: `${fhirBase}/${operation.path}`,
    operationId: operation.operationId,
    summary: operation.summary,
    produces: fhirJson,
    replies: { 202: null },
    handle: (request: Request) => startExport(parts, operation, request),
    ...(operation.level === 'group'
      ? { params: Type.Object({ id: Type.String({ description: 'Logical id.' }) }) }
      : {}),
  }
  const query = Type.Object(
    Object.fromEntries(
      Object.entries(exportParameters).map(([name, description]) => [
        name,
        Type.Optional(Type.String({ description })),
      ]),
    ),
    { additionalProperties: true },
  )
  const byPost = {
    method: 'POST' as const,
    operationId: `${operation.operationId}ByPost`,
    body: Resource,
    bodyOptional: true,
    checksOwnBody: true,
    consumes: resourceTypesTaken,
  }
  return [
    { ...shape, method: 'GET', query },
    { ...shape, ...byPost },
  ]
}

/** Without `Prefer: respond-async` as well: an export can happen in no other way, and the guide leaves that open. */
async function startExport(parts: BulkParts, { level }: BulkOperation, request: Request): Promise<Reply> {
  mustAcceptBulk(header(request, 'accept'))
  mustBeR4(header(request, 'content-type'))
  const store = parts.storeFor(request.caller)
  const { lenient } = preferences(header(request, 'prefer'))
  const base = `${request.baseUrl}${fhirBase}`
  const { order, patients } = readOrder(
    { level, search: request.search, body: request.body, isLenient: lenient },
    store,
  )
  const notes = [...order.notes]
  const refuse = (failure: Failure): void => {
    if (!lenient) throw failure
    notes.push({ code: failure.issue, text: failure.message })
  }
  const group = (request.params as { id?: string }).id
  const members = group === undefined ? undefined : await membersOf(store, group, base, parts.now())
  const listed = patients ? await namedPatients(store, patients, members, base, refuse) : members
  const of = level === 'system' ? 'everything' : listed === undefined ? 'patients' : 'listed'
  const job = newJob(parts, 'export', request, { ...order, of, notes } satisfies ExportOrder)
  await store.exporting.check({ ...order, of, job: job.id })
  return begin(parts, request, job, async on => {
    if (listed) await store.exporting.listPatients(on, job.id, listed)
  })
}

function newJob(parts: BulkParts, kind: NewJob['kind'], request: Request, order: unknown): NewJob {
  const { clientId, organizationId, scopes } = request.caller
  const query = request.search.toString()
  const url = `${request.baseUrl}${request.path}${query === '' ? '' : `?${query}`}`
  return { id: uuidv7(), kind, clientId, organizationId, scopes, url, request: order, createdAt: parts.now() }
}

/** Queues the job, with what else belongs to it, and says where to ask for it. */
async function begin(
  { database, limits, wake }: BulkParts,
  request: Request,
  job: NewJob,
  also: (on: Queryable) => Promise<void>,
): Promise<Reply> {
  await database.transaction(async on => {
    await createJob(on, job, limits)
    await also(on)
  })
  wake()
  return reply(202, undefined, {
    'content-location': `${addressOf(request, job.id)}/status`,
    'preference-applied': 'respond-async',
  })
}

const addressOf = (request: Request, job: string): string => `${request.baseUrl}${fhirBase}/bulk/${job}`

const header = (request: Request, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Clients name the type of the answer, of the files, or of a manifest. @throws Failure NOT_ACCEPTABLE for none of these. */
function mustAcceptBulk(accept: string | undefined): void {
  if (!accept || accept.split(',').some(each => /json|\*\/\*|application\/\*/.test(mediaType(each) ?? ''))) return
  throw new Failure('NOT_ACCEPTABLE', `This is answered in ${fhirJson} only; the files are ${ndjson}.`)
}

function importRoute(parts: BulkParts): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${fhirBase}/$import`,
    operationId: 'import',
    summary: 'Store the resources of NDJSON files, in the background',
    description:
      'The body is an NDJSON file itself, or names files to fetch: the manifest of the SMART Bulk Data Import draft, or the same as a Parameters resource.',
    produces: fhirJson,
    body: Resource,
    checksOwnBody: true,
    consumes: [...ndjsonTypes, ...resourceTypesTaken],
    streams: ndjsonTypes,
    replies: { 202: null },
    async handle(request) {
      mustAcceptBulk(header(request, 'accept'))
      preferences(header(request, 'prefer'))
      const store = parts.storeFor(request.caller)
      if (!resourceTypes.some(type => store.may(type, 'u')))
        throw new Failure(
          'INSUFFICIENT_SCOPE',
          'The token opens no resource type for writing; an import needs system/Type.u for the types in it.',
        )
      await mustHaveRoom(parts.database, request.caller.clientId, parts.limits)
      return ndjsonTypes.includes(request.contentType ?? '')
        ? importBody(parts, request)
        : importManifest(parts, request)
    },
  })
}

async function importManifest(parts: BulkParts, request: Request): Promise<Reply> {
  const { order, inputs } = readManifest(request.body, parts.origins)
  const job = newJob(parts, 'import', request, order)
  return begin(parts, request, job, on => createInputs(on, job.id, inputs))
}

/** The file is on disk before the job is queued, so that there is no job for half a file. */
async function importBody(parts: BulkParts, request: Request): Promise<Reply> {
  const { folder, importBytes } = parts
  if (Number(header(request, 'content-length') ?? 0) > importBytes)
    throw new Failure('PAYLOAD_TOO_LARGE', `The file is larger than ${importBytes} bytes (BULK_IMPORT_BYTES).`)
  const job = newJob(parts, 'import', request, {})
  await folder.make(job.id)
  try {
    const bytes = await save(request.body as Readable, folder.path(job.id, inputName(0)), importBytes)
    const input: NewInput = { number: 0, url: undefined, label: 'body', type: undefined, bytes }
    return await begin(parts, request, job, on => createInputs(on, job.id, [input]))
  } catch (error) {
    await folder.remove(job.id)
    throw error
  }
}

function statusRoute({ database, now }: BulkParts): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${fhirBase}/bulk/{job}/status`,
    operationId: 'bulkStatus',
    summary: 'How far an export or import is, and its manifest once it is done',
    params: JobPath,
    replies: { 200: Type.Object({}, { additionalProperties: true, description: 'The manifest.' }), 202: null },
    async handle(request) {
      const job = await findJob(database, request.params.job, request.caller.clientId, now())
      const [files, inputs] = await Promise.all([filesOf(database, job.id), inputsOf(database, job.id)])
      return statusReply({ job, files, inputs, filesUrl: `${addressOf(request, job.id)}/files`, now: now() })
    },
  })
}

function cancelRoute({ database, storeFor, folder, now }: BulkParts): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: `${fhirBase}/bulk/{job}/status`,
    operationId: 'bulkCancel',
    summary: 'Cancel an export or import, or remove its files',
    params: JobPath,
    produces: fhirJson,
    replies: { 202: null },
    async handle(request) {
      const job = await findJob(database, request.params.job, request.caller.clientId, now())
      await database.transaction(async on => {
        await removeJob(on, job.id)
        await storeFor(request.caller).exporting.forget(on, [job.id])
      })
      await folder.remove(job.id)
      return reply(202)
    },
  })
}

function fileRoute({ database, folder, now }: BulkParts): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${fhirBase}/bulk/{job}/files/{file}`,
    operationId: 'bulkFile',
    summary: 'A file of a manifest, one resource a line',
    params: FilePath,
    produces: ndjson,
    replies: { 200: Type.String({ description: 'NDJSON.' }) },
    async handle(request) {
      const job = await findJob(database, request.params.job, request.caller.clientId, now())
      const file = job.state === 'done' ? await findFile(database, job.id, request.params.file) : undefined
      const handle = file && (await open(folder.path(job.id, file.name)).catch(() => undefined))
      if (!file || !handle) throw new Failure('NOT_FOUND', 'There is no such file: see the manifest.')
      const stream = handle.createReadStream({ end: file.bytes - 1 })
      const headers = { 'content-type': ndjson, expires: job.expiresAt!.toUTCString(), vary: 'accept-encoding' }
      if (!takesGzip(header(request, 'accept-encoding')))
        return reply(200, stream, { ...headers, 'content-length': String(file.bytes) })
      return reply(200, gzipped(stream), { ...headers, 'content-encoding': 'gzip' })
    },
  })
}

const takesGzip = (accepted: string | undefined): boolean =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(accepted ?? '')

/** Closes the file as well when the client goes away. */
function gzipped(stream: Readable): Readable {
  return pipeline(stream, createGzip({ level: 1 }), () => {})
}
