// How a patient's consent stands, as the consent operations give it: decisions §3 and §5.

import { Type } from 'typebox'
import { consentTypeName } from './consent-types.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Consent, written as IHE Privacy Consent on FHIR writes it. */
export const ConsentRecord = Type.Object(
  {
    health_id: text('The Health ID of the patient.'),
    status: code(
      ['none', 'pending', 'active', 'denied', 'revoked', 'expired'],
      'none: never asked. pending: asked, not yet answered. revoked: was given and taken back.',
    ),
    consent_id: nullable(id('The consent itself; absent where there is none.')),
    consent_type: nullable(
      Type.String({
        pattern: consentTypeName,
        description: 'Which part of the record is opened: one of those that GET /api/v1/connect/consent-types lists.',
        examples: ['full_record', 'lab_results'],
      }),
    ),
    purpose: nullable(text('What the data may be used for: treatment, payment, operations, research, or in words.')),
    scopes: nullable(
      Type.Array(text('A scope, such as labs:read.'), { description: 'Scopes that were asked for, if any.' }),
    ),
    granted_at: nullable(moment('When the patient agreed.')),
    expires_at: nullable(moment('Until when the consent holds.')),
    revoked_at: nullable(moment('When the patient took it back.')),
    organization_id: nullable(id('The organisation that may see the data.')),
  },
  {
    $id: 'ConsentRecord',
    description: "A patient's consent that an organisation may see data.",
    additionalProperties: false,
  },
)
