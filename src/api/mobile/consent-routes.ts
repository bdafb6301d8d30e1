// The routes by which a patient decides about their own record, by telephone, and sees who has read it.

import { onBehalfOf, type PatientCaller } from '../../access/caller.ts'
import { aboutPerson, accessesOf, type RecordAccess } from '../../audit/accesses.ts'
import type { Auditor, AuditReader } from '../../audit/reader.ts'
import type { ConsentDecision, ConsentService } from '../../consents/service.ts'
import { patientToken, type Route, reply, route } from '../../http/route.ts'
import type { Cursors } from '../../lib/cursor.ts'
import { Failure } from '../../lib/failure.ts'
import { listName, page, pageOf, pageQuery, wantedOf } from '../../lib/paging.ts'
import { Type } from '../../lib/schema.ts'
import { mergedWith } from '../../mpi/register/merged.ts'
import { ConsentRecord } from '../../shapes/consent.ts'
import type { DatabaseFor } from '../../store/principal.ts'
import { LogEntry, logEntryOf } from './access-log.ts'

export interface PatientParts {
  readonly consents: ConsentService
  readonly databaseFor: DatabaseFor
  readonly trailFor: (auditor: Auditor) => AuditReader
  readonly cursors: Cursors
  /** The names of organisations that the store knows, by id. */
  readonly organizationNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
  readonly now: () => Date
}

/** The routes of a patient who has enrolled. */
export function patientRoutes(parts: PatientParts): Route[] {
  return [
    listRoute(parts),
    answerRoute(parts, 'grant', 'Grant a consent request'),
    answerRoute(parts, 'deny', 'Deny a consent request'),
    answerRoute(parts, 'revoke', 'Revoke a consent, effective from the next request'),
    accessLogRoute(parts),
  ]
}

const tag = 'Mobile'

const subjectOf = ({ patientId, healthId }: PatientCaller) => ({ patient: patientId, healthId })

function listRoute({ consents }: PatientParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/mobile/consents',
    tag,
    operationId: 'mobileConsents',
    summary: 'List the consents and consent requests of the patient, newest first',
    access: patientToken,
    replies: {
      200: Type.Object({ data: Type.Array(ConsentRecord), has_more: Type.Boolean() }, { $id: 'PatientConsents' }),
    },
    async handle(request) {
      return reply(200, { data: await consents.list(request, subjectOf(request.caller)), has_more: false })
    },
  })
}

const GrantBody = Type.Object(
  {
    expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the consent expires. Default: the requested expiry, or one year from now.',
      }),
    ),
  },
  { $id: 'PatientGrant', additionalProperties: false },
)
const Nothing = Type.Object({}, { additionalProperties: false })

function answerRoute({ consents, now }: PatientParts, answer: ConsentDecision, summary: string): Route {
  return route({
    method: 'POST',
    path: `/api/v1/mobile/consents/{id}/${answer}`,
    tag,
    operationId: `mobile${answer[0]!.toUpperCase()}${answer.slice(1)}Consent`,
    summary,
    access: patientToken,
    params: Type.Object({
      id: Type.String({ maxLength: 64, description: 'The consent_id from the list of consents.' }),
    }),
    body: answer === 'grant' ? GrantBody : Nothing,
    bodyOptional: true,
    maxBodyBytes: 4096,
    replies: { 200: ConsentRecord },
    async handle(request) {
      const end = (request.body as { expires_at?: string } | undefined)?.expires_at
      if (end !== undefined && Date.parse(end) <= now().getTime())
        throw new Failure('VALIDATION_FAILED', 'expires_at must be in the future.', {
          details: [{ field: 'expires_at', code: 'past', message: 'must be in the future' }],
        })
      return reply(200, await consents.answer(request, subjectOf(request.caller), request.params.id, answer, end))
    },
  })
}

const AccessLog = pageOf(LogEntry, 'AccessLog', "Accesses to the patient's record, newest first.", {
  archived_until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'On the last page: accesses up to this time are archived and not in this list. The operator of the service can provide them. Null: the list is complete.',
  }),
})

function accessLogRoute({ databaseFor, trailFor, cursors, organizationNames }: PatientParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/mobile/access-log',
    tag,
    operationId: 'mobileAccessLog',
    summary: "List accesses to the patient's record",
    description: 'Each entry shows who accessed the record, when, for which purpose, and whether in an emergency.',
    access: patientToken,
    query: Type.Object(pageQuery, { additionalProperties: false }),
    replies: { 200: AccessLog },
    async handle({ caller, query }) {
      const list = listName(`access log ${caller.patientId}`, query)
      const wanted = wantedOf(cursors, list, query)
      const trail = trailFor({ ...onBehalfOf(caller, { AuditEvent: 's' }), consentExempt: true })
      const [time, chain, sequence] = wanted.after?.map(Number) ?? []
      const after = time === undefined ? undefined : { time, chain: chain!, sequence: sequence! }
      const records = (await mergedWith(databaseFor(caller), [caller.patientId])).get(caller.patientId)!
      const { accesses, isCut } = await accessesOf(trail, records, wanted.limit, after)
      const names = await organizationNames(accesses.map(({ main }) => main.organizationId))
      const shape = {
        position: ({ last }: RecordAccess) => [last.recordedAt.getTime(), last.chain, last.sequence].map(String),
        item: ({ main }: RecordAccess) => logEntryOf(main, names),
      }
      const entries = page(cursors, list, wanted, accesses, shape, isCut)
      const archived = entries.has_more ? undefined : await trail.archivedUntil([aboutPerson(records)])
      return reply(200, { archived_until: archived?.toISOString() ?? null, ...entries })
    },
  })
}
