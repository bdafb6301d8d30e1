// How an import is asked for: with an NDJSON file in the body, or with the addresses of files.
import type { Readable } from 'node:stream'
import { resourceTypes } from '../../../definitions/r4.ts'
import { headerOf, type Reply, type Route, route } from '../../../http/route.ts'
import { readManifest } from '../../../interactions/bulk/import-order.ts'
import { createInputs, inputName, type NewInput } from '../../../interactions/bulk/inputs.ts'
import { mustHaveRoom } from '../../../interactions/bulk/jobs.ts'
import { save } from '../../../interactions/bulk/receive.ts'
import { fhirJson, resourceTypesTaken } from '../../../interactions/negotiate.ts'
import { preferences } from '../../../interactions/request.ts'
import { Failure } from '../../../lib/failure.ts'
import { fhirBase } from '../../../store/base.ts'
import { databaseOf } from '../../../store/principal.ts'
import { Resource } from '../route-shapes.ts'
import { type BulkParts, begin, common, mustAcceptBulk, ndjsonTypes, newJob, type Request } from './start.ts'

export function importRoute(parts: BulkParts): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${fhirBase}/$import`,
    operationId: 'import',
    summary: 'Import resources from NDJSON files',
    description:
      'The body is an NDJSON file, or lists files to fetch: the manifest of the SMART Bulk Data Import draft, or the equivalent Parameters resource. The import runs in the background.',
    produces: fhirJson,
    body: Resource,
    checksOwnBody: true,
    consumes: [...ndjsonTypes, ...resourceTypesTaken],
    streams: ndjsonTypes,
    replies: { 202: null },
    async handle(request) {
      mustAcceptBulk(headerOf(request, 'accept'))
      preferences(headerOf(request, 'prefer'))
      const store = parts.storeFor(request.caller)
      if (!resourceTypes.some(type => store.may(type, 'u')))
        throw new Failure(
          'INSUFFICIENT_SCOPE',
          'The token permits no resource type for writing: an import needs the scope system/Type.u for each resource type in it.',
        )
      await mustHaveRoom(databaseOf(request.caller, parts.database), request.caller.clientId, parts.limits)
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
  if (Number(headerOf(request, 'content-length') ?? 0) > importBytes)
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
