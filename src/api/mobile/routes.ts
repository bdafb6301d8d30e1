// How a patient enrols a telephone, and ends what it may do (decisions of the interface's open points, Mobile).

import type { PatientCaller } from '../../access/caller.ts'
import { open, patientToken, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
import { enrolPath } from './access-log.ts'
import { type PatientParts, patientRoutes } from './consent-routes.ts'

/** Who gives patients' tokens and takes them back. */
export interface Enrolments {
  /** @throws Failure UNAUTHENTICATED for any wrong pair, AUTH_THROTTLED after too many. */
  enrol(given: { healthId: string; code: string; address: string }): Promise<{
    readonly token: string
    readonly expiresAt: Date
    readonly healthId: string
  }>
  revoke(caller: PatientCaller): Promise<void>
}

const EnrolmentRequest = Type.Object(
  {
    health_id: Type.String({ maxLength: 100, examples: ['CM-TQYE-6SRK-YQ6S'] }),
    code: Type.String({
      maxLength: 100,
      description: 'The one-time code that the patient received from a facility. Case and dashes are ignored.',
      examples: ['7QK2-M4ZD-91XW'],
    }),
  },
  { $id: 'EnrolmentRequest', additionalProperties: false },
)

const Enrolment = Type.Object(
  {
    token: Type.String({
      description: 'The opaque patient token, with the prefix `pat_`. It appears only in this reply.',
    }),
    token_type: Type.Literal('Bearer'),
    expires_at: Type.String({ format: 'date-time' }),
    health_id: Type.String({ description: 'The Health ID in canonical form.' }),
  },
  { $id: 'Enrolment' },
)

// A kept reply would be a secret at rest; and what is repeated does no harm.
const mobile = { method: 'POST', tag: 'Mobile', isRepeatable: true } as const

/** Every route below /api/v1/mobile. */
export function mobileRoutes(enrolments: Enrolments, parts: PatientParts): Route[] {
  return [...enrolmentRoutes(enrolments), ...patientRoutes(parts)]
}

/** How a patient enrols, and ends it. */
export function enrolmentRoutes(enrolments: Enrolments): Route[] {
  return [
    route({
      ...mobile,
      path: enrolPath,
      operationId: 'mobileEnrol',
      summary: 'Enrol a mobile device with a one-time code',
      description:
        'Exchanges the code for a patient token that is valid for 180 days. A code works once, expires after 72 hours and is cancelled after five failed attempts. The reply does not reveal whether the Health ID or the code was wrong.',
      access: open,
      givesAccess: true,
      maxBodyBytes: 4096,
      body: EnrolmentRequest,
      replies: { 201: Enrolment },
      async handle({ body, remoteAddress }) {
        const { health_id: healthId, code } = body
        const given = await enrolments.enrol({ healthId, code, address: remoteAddress })
        return reply(201, {
          token: given.token,
          token_type: 'Bearer',
          expires_at: given.expiresAt.toISOString(),
          health_id: given.healthId,
        })
      },
    }),
    route({
      ...mobile,
      path: '/api/v1/mobile/revoke',
      operationId: 'mobileRevoke',
      summary: 'Revoke the patient token of the request',
      access: patientToken,
      isAboutCaller: true,
      replies: { 204: null },
      async handle({ caller }) {
        await enrolments.revoke(caller)
        return reply(204)
      },
    }),
  ]
}
