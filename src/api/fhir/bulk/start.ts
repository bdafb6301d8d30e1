// What exports and imports have in common when they start: a job is queued within the limits, and its address is
// returned.

import type { Caller } from '../../../access/caller.ts'
import type { Database } from '../../../db/database.ts'
import type { Queryable } from '../../../db/statement.ts'
import { mediaType } from '../../../http/body.ts'
import { bearer, type Reply, type RouteRequest, reply } from '../../../http/route.ts'
import type { Folder } from '../../../interactions/bulk/folder.ts'
import { createJob, type JobLimits, type NewJob } from '../../../interactions/bulk/jobs.ts'
import type { Origins } from '../../../interactions/bulk/receive.ts'
import { fhirJson } from '../../../interactions/negotiate.ts'
import { Failure } from '../../../lib/failure.ts'
import { uuidv7 } from '../../../lib/ids.ts'
import { Type } from '../../../lib/schema.ts'
import { fhirBase } from '../../../store/base.ts'
import { databaseOf } from '../../../store/principal.ts'
import type { Store } from '../../../store/store.ts'

export interface BulkParts {
  readonly database: Database
  readonly storeFor: (caller: Caller) => Store
  readonly folder: Folder
  readonly limits: JobLimits
  readonly importBytes: number
  readonly origins: Origins
  readonly now: () => Date
  /** Notifies the runner of this process that there is a job. */
  readonly wake: () => void
}

export type Request = RouteRequest<unknown, unknown, unknown>

export const common = { tag: 'Bulk Data', access: bearer() }
export const JobPath = Type.Object({ job: Type.String({ description: 'The id of the export or import.' }) })

/** Media types of NDJSON; the first one is that of the guide. */
export const ndjson = 'application/fhir+ndjson'
export const ndjsonTypes = [ndjson, 'application/ndjson', 'application/x-ndjson']

/** A job as it will be queued, with the rights that the caller has now. */
export function newJob(parts: BulkParts, kind: NewJob['kind'], request: Request, order: unknown): NewJob {
  const { clientId, organizationId, scopes, consentExempt, purpose } = request.caller
  const query = request.search.toString()
  const url = `${request.baseUrl}${request.path}${query === '' ? '' : `?${query}`}`
  return {
    id: uuidv7(),
    kind,
    clientId,
    organizationId,
    scopes,
    consentExempt,
    purpose,
    url,
    request: order,
    createdAt: parts.now(),
  }
}

/** Queues the job, with what belongs to it, and returns the address of its status. */
export async function begin(
  { database, limits, wake }: BulkParts,
  request: Request,
  job: NewJob,
  also: (on: Queryable) => Promise<void>,
): Promise<Reply> {
  await databaseOf(request.caller, database).transaction(async on => {
    await createJob(on, job, limits)
    await also(on)
    on.afterwards(wake)
  })
  return reply(202, undefined, {
    'content-location': `${addressOf(request, job.id)}/status`,
    'preference-applied': 'respond-async',
  })
}

/** Below it are a job's state and its files. */
export const addressOf = (request: Request, job: string): string => `${request.baseUrl}${fhirBase}/bulk/${job}`

/** Clients name the type of the answer, of the files, or of a manifest. @throws Failure NOT_ACCEPTABLE for none of these. */
export function mustAcceptBulk(accept: string | undefined): void {
  if (!accept || accept.split(',').some(each => /json|\*\/\*|application\/\*/.test(mediaType(each) ?? ''))) return
  throw new Failure('NOT_ACCEPTABLE', `This operation replies with ${fhirJson} only; the files are ${ndjson}.`)
}
