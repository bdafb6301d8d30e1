// What the consent operations take (interface §2.3, decisions §3); they answer the shape ConsentRecord.
import { Type } from '../../lib/schema.ts'

const consentType = Type.String({
  maxLength: 60,
  description: 'The consent type, one of GET /api/v1/connect/consent-types.',
  examples: ['full_record'],
})
const purpose = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    'The purpose of use: treatment, payment, operations, research, public_health, emergency, or free text. Default: treatment.',
})
const scopes = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 50,
  description: 'Scopes that limit a full_record consent to the data they cover.',
  examples: [['labs:read']],
})
const expiresAt = Type.String({
  format: 'date-time',
  description: 'When the consent expires. Must be in the future. Default: one year from now.',
  examples: ['2027-03-14T00:00:00Z'],
})

export const ConsentGrant = Type.Object(
  {
    consent_type: consentType,
    expires_at: Type.Optional(expiresAt),
    purpose: Type.Optional(purpose),
    scopes: Type.Optional(scopes),
    verification_method: Type.Optional(
      Type.Enum(['in_person', 'otp', 'signature'], {
        description: 'How the patient agreed. The patient must be present or verified in another way.',
      }),
    ),
  },
  { $id: 'ConsentGrant', additionalProperties: false },
)

export const ConsentAsk = Type.Object(
  {
    consent_type: Type.Optional(consentType),
    purpose: Type.Optional(purpose),
    requested_scopes: Type.Optional(scopes),
    scopes: Type.Optional({
      ...scopes,
      description: 'An alias of requested_scopes. If both are present, they must list the same scopes.',
    }),
    expires_at: Type.Optional(expiresAt),
  },
  { $id: 'ConsentAsk', description: 'The consent to request from the patient.', additionalProperties: false },
)
