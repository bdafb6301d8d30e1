// How a patient's consent stands, as the consent operations give it: decisions §3 and §5.

import { Type } from '../lib/schema.ts'
import { consentTypeName } from './consent-types.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Consent, written as IHE Privacy Consent on FHIR writes it. */
export const ConsentRecord = Type.Object(
  {
    health_id: text('The Health ID of the patient.'),
    status: code(
      ['none', 'pending', 'active', 'denied', 'revoked', 'expired'],
      'none: never requested. pending: requested and not answered. revoked: granted and later withdrawn.',
    ),
    consent_id: nullable(id('The id of the consent. Absent if there is none.')),
    consent_type: nullable(
      Type.String({
        pattern: consentTypeName,
        description: 'The part of the record that the consent opens, one of GET /api/v1/connect/consent-types.',
        examples: ['full_record', 'lab_results'],
      }),
    ),
    purpose: nullable(text('The purpose of use: treatment, payment, operations, research, or free text.')),
    scopes: nullable(Type.Array(text('A scope, such as labs:read.'), { description: 'The requested scopes, if any.' })),
    granted_at: nullable(moment('When the patient agreed.')),
    expires_at: nullable(moment('When the consent expires.')),
    request_expires_at: nullable(moment('When a pending request expires if the patient does not answer.')),
    revoked_at: nullable(moment('When the patient revoked the consent.')),
    organization_id: nullable(id('The organisation that may access the data.')),
  },
  {
    $id: 'ConsentRecord',
    description: 'The consent of a patient to access by an organisation.',
    additionalProperties: false,
  },
)
