// Health IDs: resolve, verify, search (interface §4.5).

import type { Caller } from '../../access/caller.ts'
import { verified } from '../../events/occurrence.ts'
import { bearer, type Route, reply, route } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { fold, parse } from '../../lib/health-id.ts'
import { Type } from '../../lib/schema.ts'
import { holderOf, readHealthId } from '../../mpi/register/health-ids.ts'
import { mayBeSeen, profileOf } from '../../patients/profile.ts'
import { resolve } from '../../patients/resolve.ts'
import { ResolveRequest } from '../../patients/resolve-body.ts'
import { writeNote } from '../../store/note.ts'
import { asOperation } from '../../store/operation.ts'
import { PatientSearchReply, ResolveReply, VerifyReply } from './health-id-shapes.ts'
import type { ConnectParts } from './parts.ts'

export function healthIdRoutes(parts: ConnectParts): Route[] {
  return [resolveRoute(parts), verifyRoute(parts), searchRoute(parts)]
}

const written = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'A Health ID. Case, spaces and dashes are ignored.',
  examples: ['CM-TQYE-6SRK-YQ6S'],
})

function resolveRoute(parts: ConnectParts): Route {
  return route({
    method: 'POST',
    path: '/api/v1/connect/patients/resolve',
    tag: 'Connect',
    operationId: 'resolvePatient',
    summary: 'Find a patient by Health ID or demographics, or register a new one',
    description:
      'Returns the registered patient if the match is certain. If the match is only possible, registers a new patient and creates a review task for the possible duplicate.',
    access: bearer('health_id:verify'),
    limit: 'lookup',
    body: ResolveRequest,
    checksOwnBody: true,
    maxBodyBytes: 32_768,
    replies: { 200: ResolveReply, 201: ResolveReply },
    async handle(request) {
      const { status, healthId, patient, matchedBy, possibleDuplicates, currentHealthId } = await resolve(
        parts,
        request,
      )
      return reply(status === 'created' ? 201 : 200, {
        health_id: healthId,
        status,
        patient_id: patient ?? null,
        matched_by: matchedBy,
        possible_duplicates: possibleDuplicates,
        country_code: healthId.slice(0, 2),
        request_id: request.requestId,
        current_health_id: currentHealthId,
      })
    },
  })
}

function verifyRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/connect/patients/verify/{health_id}',
    tag: 'Connect',
    operationId: 'verifyHealthId',
    summary: 'Verify a Health ID',
    access: bearer('health_id:verify'),
    limit: 'lookup',
    params: Type.Object({
      health_id: Type.String({
        description: 'Case, spaces and dashes are ignored.',
        examples: ['CM-TQYE-6SRK-YQ6S'],
      }),
    }),
    replies: { 200: VerifyReply },
    async handle(request) {
      const { params, caller } = request
      const reading = parse(params.health_id)
      const unverified = { valid: false, checksum_valid: false, registered: false }
      if (!('healthId' in reading)) {
        const shown = reading.fault === 'checksum' ? reading.form : fold(params.health_id.slice(0, 100))
        return reply(200, { health_id: shown, ...unverified, status: 'invalid_checksum' })
      }
      const { healthId } = reading
      const checked = { health_id: healthId, ...unverified, checksum_valid: true }
      const holder = await holderOf(parts.databaseFor(caller), healthId)
      if (!holder) return reply(200, { ...checked, status: 'not_registered' })
      if (holder.current !== healthId) {
        const query = `connect/patients/verify/${healthId}`
        const { patient } = holder
        return asOperation(caller, { type: 'Patient', id: patient, query }, async () => ({
          result: reply(200, { ...checked, registered: true, status: 'merged', current_health_id: holder.current }),
          ...{ patients: [patient], resources: 0 },
        }))
      }
      const profile = await profileOf(parts, request, holder, `connect/patients/verify/${healthId}`)
      await reportVerified(parts, request, holder.patient, healthId)
      const birth = profile?.date_of_birth
      return reply(200, {
        ...checked,
        valid: true,
        registered: true,
        status: 'verified',
        patient: {
          first_name: profile?.first_name ?? null,
          last_name_initial: [...(profile?.last_name ?? '')][0] ?? null,
          birth_year: birth ? Number(birth.slice(0, 4)) : null,
          sex: profile?.sex ?? null,
        },
      })
    },
  })
}

/** Publishes the event directly: verifying a Health ID changes no resource. */
async function reportVerified(
  { outbox, databaseFor }: ConnectParts,
  { caller, requestId }: { readonly caller: Caller; readonly requestId: string },
  patient: string,
  healthId: string,
): Promise<void> {
  const occurrence = verified({ healthId, patient, organization: caller.organizationId })
  await writeNote(
    databaseFor(caller),
    outbox.occurred([occurrence], { organizationId: caller.organizationId, requestId }),
  )
}

function searchRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/connect/patient/search',
    tag: 'Connect',
    operationId: 'searchPatient',
    summary: 'Search for a patient by Health ID',
    description:
      'Returns all fields if a consent permits access to the Patient, to the client that created the Patient and to consent-exempt clients. Other clients get enough to confirm the identity, with `redacted: true`.',
    access: bearer('patient:profile:read', 'patients:read'),
    limit: 'lookup',
    query: Type.Object({ health_id: written }, { additionalProperties: true }),
    replies: { 200: PatientSearchReply },
    async handle(request) {
      const on = parts.databaseFor(request.caller)
      const healthId = await readHealthId(on, request.query.health_id, 'query.health_id')
      const holder = await holderOf(on, healthId)
      if (!holder)
        throw new Failure('PATIENT_NOT_FOUND', 'No patient is registered with this Health ID.', {
          details: [{ field: 'query.health_id', code: 'not-found', message: 'is not registered' }],
        })
      const profile = await profileOf(parts, request, holder, `connect/patient/search?health_id=${healthId}`)
      const isOpen = await mayBeSeen(parts, request.caller, holder)
      const data = {
        health_id: holder.current ?? healthId,
        first_name: profile?.first_name ?? null,
        last_name: (isOpen ? profile?.last_name : initialOf(profile?.last_name)) ?? null,
        date_of_birth: (isOpen ? profile?.date_of_birth : profile?.date_of_birth?.slice(0, 4)) ?? null,
        sex: profile?.sex ?? null,
        phone_masked: isOpen ? masked(profile?.phone_number) : null,
        redacted: !isOpen,
      }
      return reply(200, { data: [data], has_more: false })
    },
  })
}

function initialOf(name: string | null | undefined): string | undefined {
  const [first] = name?.trim() ?? ''
  return first === undefined ? undefined : `${first}.`
}

/** Returns a telephone number with only the last two digits visible: enough to ask a person whether it is the right one. */
function masked(phone: string | null | undefined): string | null {
  const digits = phone?.replace(/\D/g, '') ?? ''
  return digits === '' ? null : `${'*'.repeat(Math.max(digits.length - 2, 0))}${digits.slice(-2)}`
}
