// How an export is asked for: of everything, of all patients, or of a group.

import { headerOf, type Reply, type Route } from '../../../http/route.ts'
import { type BulkOperation, exportOperations, exportParameters } from '../../../interactions/bulk/operations.ts'
import { type ExportOrder, readOrder } from '../../../interactions/bulk/order.ts'
import { membersOf, namedPatients } from '../../../interactions/bulk/patients.ts'
import { fhirJson, mustBeR4, resourceTypesTaken } from '../../../interactions/negotiate.ts'
import { preferences } from '../../../interactions/request.ts'
import type { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { fhirBase } from '../../../store/base.ts'
import { Resource } from '../route-shapes.ts'
import { type BulkParts, begin, common, mustAcceptBulk, newJob, type Request } from './start.ts'

export const exportRoutes = (parts: BulkParts): Route[] => exportOperations.flatMap(each => routesOf(parts, each))

function routesOf(parts: BulkParts, operation: BulkOperation): Route[] {
  const shape = {
    ...common,
    path: `${fhirBase}/${operation.path}`,
    operationId: operation.operationId,
    summary: operation.summary,
    description: 'Runs in the background. The 202 reply gives the status URL in Content-Location.',
    produces: fhirJson,
    replies: { 202: null },
    handle: (request: Request) => startExport(parts, operation, request),
    ...(operation.level === 'group'
      ? { params: Type.Object({ id: Type.String({ description: 'The logical id of the resource.' }) }) }
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
  mustAcceptBulk(headerOf(request, 'accept'))
  mustBeR4(headerOf(request, 'content-type'))
  const store = parts.storeFor(request.caller)
  const { lenient } = preferences(headerOf(request, 'prefer'))
  const { base } = store
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
  await store.exporting().check({ ...order, of, job: job.id })
  return begin(parts, request, job, async on => {
    if (listed) await store.exporting().listPatients(on, job.id, listed)
  })
}
