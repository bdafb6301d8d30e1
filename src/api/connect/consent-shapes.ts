// What the consent operations take (interface §2.3, decisions §3); they answer the shape ConsentRecord.
import { Type } from 'typebox'

const consentType = Type.String({
  maxLength: 60,
  description: 'What is opened, as GET /api/v1/connect/consent-types lists it.',
  examples: ['full_record'],
})
const purpose = Type.String({
  minLength: 1,
  maxLength: 200,
  description:
    'treatment, payment, operations, research, public_health, emergency, or in words; treatment if left out.',
})
const scopes = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: 50,
  description: 'Scopes that narrow a full_record to what they open.',
  examples: [['labs:read']],
})
const expiresAt = Type.String({
  format: 'date-time',
  description: 'When it ends, in the future. Left out, in a year.',
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
        description: 'How the patient agreed: the patient must be present, or verified otherwise.',
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
      description: 'The same as requested_scopes; if both are given, they must name the same scopes.',
    }),
    expires_at: Type.Optional(expiresAt),
  },
  { $id: 'ConsentAsk', description: 'What the patient is asked for.', additionalProperties: false },
)
