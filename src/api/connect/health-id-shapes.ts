// What the Health ID operations answer (decisions §2 and §3).

import { Type } from 'typebox'

const optional = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const healthId = Type.String({ description: 'In canonical form.', examples: ['CM-TQYE-6SRK-YQ6S'] })
const currentHealthId = Type.Optional(
  Type.String({ description: 'Of a merged Health ID: the one that holds instead.', examples: ['CM-9C1T-3NR9-A9HC'] }),
)

export const ResolveReply = Type.Object(
  {
    health_id: healthId,
    status: Type.Enum(['found', 'created', 'not_found'], {
      description: 'not_found: the Health ID is not registered, and there are no demographics to register somebody by.',
    }),
    patient_id: optional('The Patient in this service; null if there is none.'),
    matched_by: Type.Union([Type.Enum(['health_id', 'demographics']), Type.Null()]),
    possible_duplicates: Type.Integer({
      minimum: 0,
      description: 'How many registered people this new patient may be; somebody is asked to look.',
    }),
    country_code: Type.String({ description: 'The country that issued the Health ID.' }),
    request_id: Type.String(),
    current_health_id: currentHealthId,
  },
  { $id: 'ResolveReply', description: 'A Health ID. Nothing else is told of somebody who is found.' },
)

export const VerifyReply = Type.Object(
  {
    health_id: Type.String({ description: 'In canonical form, if it has the form of a Health ID.' }),
    valid: Type.Boolean({ description: 'It is registered, and holds.' }),
    checksum_valid: Type.Boolean(),
    registered: Type.Boolean(),
    status: Type.Enum(['verified', 'invalid_checksum', 'not_registered', 'merged']),
    current_health_id: currentHealthId,
    patient: Type.Optional(
      Type.Object({
        first_name: optional('Given names.'),
        last_name_initial: optional('First letter of the family name.'),
        birth_year: Type.Union([Type.Integer(), Type.Null()]),
        sex: optional('male, female or other.'),
      }),
    ),
  },
  { $id: 'VerifyReply', description: 'Whether a Health ID is right, and enough to compare it with who stands there.' },
)

export const PatientSearchReply = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        health_id: healthId,
        first_name: optional('Given names.'),
        last_name: optional('Family name; if `redacted`, its initial and a point.'),
        date_of_birth: optional('Day of birth; if `redacted`, its year.'),
        sex: optional('male, female or other.'),
        phone_masked: optional('The last two digits are shown; null if `redacted`.'),
        redacted: Type.Boolean({
          description:
            'True if no consent opens the Patient to the own organisation, and the client neither created it nor is exempt: then less is shown.',
        }),
      }),
    ),
    has_more: Type.Boolean(),
  },
  { $id: 'PatientSearchReply', description: 'The patient who holds a Health ID.' },
)
