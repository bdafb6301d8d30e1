// The status of a job for its client: its progress, its failure, or the manifest of the files to fetch
// (https://hl7.org/fhir/uv/bulkdata/STU2/export.html#bulk-data-status-request).

import type { Reply } from '../../../http/route.ts'
import type { FileInfo } from '../../../interactions/bulk/files.ts'
import type { Input } from '../../../interactions/bulk/inputs.ts'
import type { Job } from '../../../interactions/bulk/jobs.ts'
import { Failure } from '../../../lib/failure.ts'
import { operationOutcome } from '../../../lib/operation-outcome.ts'

export interface JobStatus {
  readonly job: Job
  readonly files: readonly FileInfo[]
  readonly inputs: readonly Input[]
  /** Address of the job's files, without trailing slash. */
  readonly filesUrl: string
  readonly now: Date
}

/** The answer to a status request. */
export function statusReply(status: JobStatus): Reply {
  const { job, now } = status
  if (job.state === 'done') {
    const headers = { 'content-type': 'application/json', expires: job.expiresAt!.toUTCString() }
    const manifest = job.kind === 'export' ? exportManifest(status) : importManifest(status)
    return { status: 200, headers, body: JSON.stringify(manifest) }
  }
  if (job.state === 'failed') {
    const failure = new Failure('INTERNAL_ERROR', `The ${job.kind} failed: ${job.problem}`)
    const headers = { 'content-type': 'application/fhir+json; charset=utf-8' }
    return { status: 500, headers, body: operationOutcome(failure) }
  }
  const seconds = (now.getTime() - job.createdAt.getTime()) / 1000
  const again = Math.min(60, Math.max(1, Math.ceil(seconds / 10)))
  return { status: 202, headers: { 'x-progress': progressOf(status), 'retry-after': String(again) } }
}

/** At most 100 characters, as the guide asks. */
function progressOf({ job, inputs }: JobStatus): string {
  if (job.state === 'queued' && job.total === undefined) return 'queued'
  if (job.total === undefined) return job.kind === 'export' ? 'listing the resources' : 'fetching files'
  if (job.kind === 'import') {
    const read = inputs.reduce((sum, input) => sum + input.position, 0)
    return `${share(read, job.total)} % of the bytes read, ${job.done} resources processed`
  }
  return `${job.done} of ${job.total} resources written, ${share(job.done, job.total)} %`
}

const share = (part: number, whole: number): number => (whole === 0 ? 100 : Math.floor((100 * part) / whole))

type Json = Record<string, unknown>

function entry({ filesUrl }: JobStatus, { type, name, count }: FileInfo): Json {
  return { type, url: `${filesUrl}/${name}`, count }
}

function exportManifest(status: JobStatus): Json {
  const { job, files } = status
  const of = (kind: FileInfo['kind']): Json[] =>
    files.filter(file => file.kind === kind).map(file => entry(status, file))
  return {
    transactionTime: job.transactionTime!.toISOString(),
    request: job.url,
    requiresAccessToken: true,
    output: of('output'),
    deleted: of('deleted'),
    error: of('error'),
  }
}

/** One output for each input, with what was stored of it; the files of `error` hold what was not, with its line. */
function importManifest(status: JobStatus): Json {
  const { job, files, inputs } = status
  return {
    transactionTime: job.transactionTime!.toISOString(),
    request: job.url,
    requiresAccessToken: true,
    output: inputs.map(({ url, label, type, counts: { failed, ...stored } }) => ({
      ...(url === undefined ? {} : { inputUrl: url }),
      input: label,
      ...(type === undefined ? {} : { resourceType: type }),
      count: stored.created + stored.updated + stored.unchanged,
      extension: { ...stored, failed },
    })),
    error: files.map(file => {
      const input = inputs.find(each => each.number === file.input)
      return {
        ...entry(status, file),
        ...(input?.url === undefined ? {} : { inputUrl: input.url }),
        input: input?.label,
      }
    }),
  }
}
