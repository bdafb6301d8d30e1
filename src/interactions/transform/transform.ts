// $transform: a resource, or any record that a logical model describes, as a map turns it into another.
// https://hl7.org/fhir/R4/structuremap-operation-transform.html

import { Failure, type FailureDetail } from '../../lib/failure.ts'
import type { SourceFile } from '../../mapping/files.ts'
import type { Job, JobOutcome, Remark } from '../../mapping/job.ts'
import type { Store } from '../../store/store.ts'
import type { FhirReply, FhirRequest } from '../request.ts'
import { parametersReply } from '../terminology/inputs.ts'
import { fileOf, gathered } from './gather.ts'
import { askedOf, type TransformRequest } from './inputs.ts'

export async function transformOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  store.library().mustSee('StructureMap')
  const asked = askedOf(store, request)
  const { maps } = request
  const outcome = (await ownOutcome(asked, store, request)) ?? (await outcomeOf(asked, store, request))
  if (asked.isDebug) return debugReply(outcome, maps.version)
  if (outcome.result !== undefined) return { status: 200, body: outcome.result }
  throw refused(outcome)
}

/** Characters of a source that the service's own maps take outside of a thread. */
const smallContent = 65_536

/** What one of the service's own maps makes of a source that is not large, unless one with its URL is stored or something was sent along for it. */
async function ownOutcome(
  asked: TransformRequest,
  store: Store,
  request: FhirRequest,
): Promise<JobOutcome | undefined> {
  const { source, supporting, models } = asked
  if (source === undefined || supporting.length > 0 || models.length > 0) return undefined
  if (asked.content.length > smallContent) return undefined
  if (await store.library().find('StructureMap', source)) return undefined
  return request.maps.runOwn(source, workOf(asked, request))
}

/** What any other map makes, in a thread of its own. */
async function outcomeOf(asked: TransformRequest, store: Store, request: FhirRequest): Promise<JobOutcome> {
  const map = await mapOf(asked, store, request)
  const others = await gathered(map, asked, store, request.maps)
  return request.maps.run({ map, others, ...workOf(asked, request) })
}

function workOf(
  { content, context, isDebug }: TransformRequest,
  { maps }: FhirRequest,
): Pick<Job, 'sources' | 'isTraced'> {
  const known = context ?? JSON.stringify(maps.context())
  return { sources: [content, known], isTraced: isDebug }
}

/** The map as it was sent, as it is stored, or as the service has it. @throws Failure NOT_FOUND */
async function mapOf({ map, id, source }: TransformRequest, store: Store, { maps }: FhirRequest): Promise<SourceFile> {
  const library = store.library()
  if (map !== undefined) return fileOf('map', map)
  if (id !== undefined) return fileOf(`StructureMap/${id}`, JSON.stringify(await library.byId('StructureMap', id)))
  const stored = await library.find('StructureMap', source!)
  const [own] = stored ? [] : maps.files(source!)
  return own ?? fileOf(source!, JSON.stringify(stored ?? (await library.byUrl('StructureMap', source!))))
}

function refused({ remarks }: JobOutcome): Failure {
  const errors = remarks.filter(each => each.severity === 'error')
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Failure('VALIDATION_FAILED', `${first?.message ?? 'The map produces no result.'}${more}`, {
    details: remarks.slice(0, MOST_DETAILS).map(detailOf),
  })
}

const MOST_DETAILS = 100

function detailOf({ severity, place, message }: Remark): FailureDetail {
  return { field: place, code: 'processing', message, severity }
}

/** The answer that FHIRPath Lab and its editor read: https://github.com/ahdis/matchbox/issues/381 */
function debugReply({ remarks, result, map, trace }: JobOutcome, version: string): FhirReply {
  const issue =
    remarks.length > 0
      ? remarks.map(({ severity, place, message }) => ({
          severity,
          code: 'processing',
          diagnostics: place === undefined ? message : `${place}: ${message}`,
        }))
      : [{ severity: 'information', code: 'informational', diagnostics: 'The map ran without problems.' }]
  return parametersReply([
    { name: 'outcome', resource: { resourceType: 'OperationOutcome', issue } },
    result === undefined ? undefined : { name: 'result', valueString: result },
    {
      name: 'parameters',
      part: [
        { name: 'evaluator', valueString: `health-interop ${version}` },
        ...(map === undefined ? [] : [{ name: 'map', resource: JSON.parse(map) }]),
      ],
    },
    trace.length === 0
      ? undefined
      : { name: 'trace', part: trace.map(({ level, text }) => ({ name: level, valueString: text })) },
  ])
}
