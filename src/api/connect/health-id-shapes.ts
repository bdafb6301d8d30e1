// What the Health ID operations answer (decisions §2 and §3).

import { Type } from '../../lib/schema.ts'

const optional = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const healthId = Type.String({ description: 'The Health ID in canonical form.', examples: ['CM-TQYE-6SRK-YQ6S'] })
const currentHealthId = Type.Optional(
  Type.String({ description: 'The current Health ID of a merged patient.', examples: ['CM-9C1T-3NR9-A9HC'] }),
)

export const ResolveReply = Type.Object(
  {
    health_id: healthId,
    status: Type.Enum(['found', 'created', 'not_found'], {
      description:
        'not_found: the Health ID is not registered, and the request has no demographics to register a new patient.',
    }),
    patient_id: optional('The id of the Patient. Null if there is none.'),
    matched_by: Type.Union([Type.Enum(['health_id', 'demographics']), Type.Null()]),
    possible_duplicates: Type.Integer({
      minimum: 0,
      description: 'The number of registered patients that may be the same person. Each is queued for review.',
    }),
    country_code: Type.String({ description: 'The country that issued the Health ID, ISO 3166-1.' }),
    request_id: Type.String(),
    current_health_id: currentHealthId,
  },
  { $id: 'ResolveReply', description: 'The Health ID. No demographics of a found patient are returned.' },
)

export const VerifyReply = Type.Object(
  {
    health_id: Type.String({ description: 'The Health ID, in canonical form if it is well-formed.' }),
    valid: Type.Boolean({ description: 'True if the Health ID is registered and current.' }),
    checksum_valid: Type.Boolean(),
    registered: Type.Boolean(),
    status: Type.Enum(['verified', 'invalid_checksum', 'not_registered', 'merged']),
    current_health_id: currentHealthId,
    patient: Type.Optional(
      Type.Object({
        first_name: optional('Given names.'),
        last_name_initial: optional('The first letter of the family name.'),
        birth_year: Type.Union([Type.Integer(), Type.Null()]),
        sex: optional('Administrative sex: male, female or other.'),
      }),
    ),
  },
  {
    $id: 'VerifyReply',
    description: 'The status of a Health ID, with enough data to confirm the identity of its holder.',
  },
)

export const PatientSearchReply = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        health_id: healthId,
        first_name: optional('Given names.'),
        last_name: optional('Family name. If `redacted`, only its initial and a full stop.'),
        date_of_birth: optional('Date of birth. If `redacted`, only the year.'),
        sex: optional('Administrative sex: male, female or other.'),
        phone_masked: optional('The telephone number with only its last two digits visible. Null if `redacted`.'),
        redacted: Type.Boolean({
          description:
            'True if fields are redacted: no consent permits access to the Patient, and the client neither created it nor is consent-exempt.',
        }),
      }),
    ),
    has_more: Type.Boolean(),
  },
  { $id: 'PatientSearchReply', description: 'The holder of a Health ID.' },
)
