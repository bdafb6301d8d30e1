// The routes of Bulk Data: orders, and afterwards the status and the files of a job.
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Caller } from '../../../access/caller.ts'
import { hasNarrowed } from '../../../access/consent/narrowed.ts'
import type { Database } from '../../../db/database.ts'
import { headerOf, type Route, reply, route } from '../../../http/route.ts'
import { filesOf, findFile } from '../../../interactions/bulk/files.ts'
import { inputsOf } from '../../../interactions/bulk/inputs.ts'
import { findJob, type Job, removeJob } from '../../../interactions/bulk/jobs.ts'
import { fhirJson } from '../../../interactions/negotiate.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { fhirBase } from '../../../store/base.ts'
import { exportRoutes } from './export-routes.ts'
import { importRoute } from './import-route.ts'
import { statusReply } from './manifest.ts'
import { addressOf, type BulkParts, common, JobPath, ndjson } from './start.ts'

/** The routes; they go before those of the FHIR surface, whose addresses are more general. */
export function bulkRoutes(parts: BulkParts): Route[] {
  return [...exportRoutes(parts), importRoute(parts), statusRoute(parts), cancelRoute(parts), fileRoute(parts)]
}

const FilePath = Type.Object({
  ...JobPath.properties,
  file: Type.String({ description: 'The file name from the manifest.' }),
})

function statusRoute({ database, now }: BulkParts): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${fhirBase}/bulk/{job}/status`,
    operationId: 'bulkStatus',
    summary: 'Get the progress of an export or import, or its manifest once complete',
    params: JobPath,
    replies: {
      200: Type.Object(
        {},
        { additionalProperties: true, description: 'The manifest of the complete export or import.' },
      ),
      202: null,
    },
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
    summary: 'Cancel an export or import, or delete its files',
    params: JobPath,
    produces: fhirJson,
    replies: { 202: null },
    async handle(request) {
      const job = await findJob(database, request.params.job, request.caller.clientId, now())
      await database.transaction(async on => {
        await removeJob(on, job.id)
        await storeFor(request.caller).exporting().forget(on, [job.id])
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
    summary: 'Download an exported NDJSON file',
    params: FilePath,
    produces: ndjson,
    replies: { 200: Type.String({ description: 'NDJSON.' }) },
    async handle(request) {
      const job = await findJob(database, request.params.job, request.caller.clientId, now())
      const file = job.state === 'done' ? await findFile(database, job.id, request.params.file) : undefined
      if (job.kind === 'export') await mustStillBeOpen(database, request.caller, job)
      const handle = file && (await open(folder.path(job.id, file.name)).catch(() => undefined))
      if (!file || !handle) throw new Failure('NOT_FOUND', 'The file does not exist: use the URLs in the manifest.')
      const stream = handle.createReadStream({ end: file.bytes - 1 })
      const headers = { 'content-type': ndjson, expires: job.expiresAt!.toUTCString(), vary: 'accept-encoding' }
      if (!takesGzip(headerOf(request, 'accept-encoding')))
        return reply(200, stream, { ...headers, 'content-length': String(file.bytes) })
      return reply(200, gzipped(stream), { ...headers, 'content-encoding': 'gzip' })
    },
  })
}

/** What was exported under consents that have ended since is not handed out. @throws Failure CONSENT_REVOKED. */
async function mustStillBeOpen(database: Database, caller: Caller, { transactionTime }: Job): Promise<void> {
  if (caller.consentExempt || !transactionTime) return
  if (!(await hasNarrowed(database, caller.organizationId, transactionTime))) return
  throw new Failure(
    'CONSENT_REVOKED',
    'A consent behind this export has ended, so its files are no longer available: start a new export.',
  )
}

const takesGzip = (accepted: string | undefined): boolean =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(accepted ?? '')

/** Closes the file as well when the client goes away. */
function gzipped(stream: Readable): Readable {
  return pipeline(stream, createGzip({ level: 1 }), () => {})
}
