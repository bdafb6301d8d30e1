// What the service knows in addition to the record that it translates: the caller, the patient, and the time.

import { type Static, Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** A map takes it as a second source: `source context : Context`. */
export const Context = Type.Object(
  {
    base_url: Type.String({
      format: 'uri',
      description:
        'The base URL of the identifier systems of this data set, without a trailing slash: the address at which it was first served.',
    }),
    received_at: moment('When the request was received.'),
    request_id: nullable(text('The id of the request, for the audit trail.')),
    patient_id: nullable(id('The patient of the request, once the Health ID is resolved.')),
    health_id: nullable(text('The Health ID of that patient.')),
    encounter_id: nullable(id('The visit of the request, if known.')),
    organization_id: nullable(id('The calling organisation.')),
    namespace: nullable(
      Type.String({
        format: 'uri',
        description:
          'The base of the identifier systems of the facility that sent an HL7 v2 message, without a trailing slash: its numbers are in systems of its own.',
      }),
    ),
    time_zone: nullable(
      text('The time zone of that facility, such as Africa/Douala or +01:00: of times that have none.'),
    ),
    was_sent: nullable(
      Type.Boolean({
        description:
          'True if a message of the same resource was sent to the same receiver before: this one changes it.',
      }),
    ),
    practitioner_id: nullable(id('The practitioner on whose behalf the organisation calls.')),
    consent_opens: nullable(
      code(
        ['everything', 'parts', 'nothing', 'emergencies'],
        'How much the consent opens. parts: the types in resource_types. emergencies: nothing except in an emergency. Absent: unknown, so nothing.',
      ),
    ),
    resource_types: nullable(
      Type.Array(text('A resource type, such as Condition.'), {
        description: 'The resource types that the consent opens.',
      }),
    ),
    observation_categories: nullable(
      Type.Array(text('A code of observation-category, such as laboratory.'), {
        description: 'The categories that the consent is limited to.',
      }),
    ),
  },
  {
    $id: 'Context',
    description: 'What the service knows in addition to the record.',
    additionalProperties: false,
  },
)

export type Context = Readonly<Static<typeof Context>>
