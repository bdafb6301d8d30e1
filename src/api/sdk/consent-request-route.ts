// POST sdk/consents/requests: asks a patient for consent (interface §2.17, decisions §12).

import { termsOf } from '../../consents/terms.ts'
import { bearer, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
import { patientOf } from '../../mpi/patient-of.ts'
import { text } from '../../shapes/fields.ts'
import type { SdkParts } from './parts.ts'

const ConsentRequest = Type.Object(
  {
    health_id: text("The patient's Health ID."),
    purpose: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The purpose of use: treatment, payment, operations, research, or free text.',
      examples: ['treatment'],
    }),
    requested_scopes: Type.Array(Type.String({ maxLength: 200 }), {
      minItems: 1,
      maxItems: 100,
      description: 'The scopes to request. Each must open a part of the record.',
      examples: [['patients:read', 'labs:read']],
    }),
  },
  { $id: 'ConsentRequest', description: 'The consent to request from a patient.', additionalProperties: false },
)

const ConsentRequested = Type.Object(
  {
    consent_id: Type.String(),
    health_id: Type.String(),
    status: Type.Literal('pending'),
    requested_scopes: Type.Array(Type.String()),
    purpose: Type.String(),
    expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the request expires if the patient does not answer.',
    }),
  },
  { $id: 'ConsentRequested' },
)

export function consentRequestRoute(parts: SdkParts): Route {
  return route({
    method: 'POST',
    path: '/api/v1/sdk/consents/requests',
    tag: 'SDK',
    operationId: 'requestConsentForScopes',
    summary: 'Request consent from a patient for scopes',
    description:
      'The patient answers on an enrolled mobile device, or you record the answer with a grant. Repeating the same request changes nothing.',
    access: bearer('consents:write'),
    body: ConsentRequest,
    maxBodyBytes: 16_384,
    replies: { 202: ConsentRequested },
    refusals: [404],
    async handle(request) {
      const { health_id: written, purpose, requested_scopes } = request.body
      const terms = termsOf(parts, { purpose, requested_scopes })
      const { caller } = request
      const subject = await patientOf(parts.databaseFor(caller), written, 'health_id')
      const asked = await parts.consents.ask(request, subject, caller.organizationId, terms)
      return reply(202, {
        consent_id: asked.consent_id,
        health_id: subject.healthId,
        status: asked.status,
        requested_scopes: asked.scopes,
        purpose: asked.purpose,
        expires_at: asked.request_expires_at,
      })
    },
  })
}
