// What the service knows beside the record it translates: who called, about whom, and when.

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

/** A map takes it as a second source: `source context : Context`. */
export const Context = Type.Object(
  {
    base_url: Type.String({
      format: 'uri',
      description:
        'What the systems of identifiers of this data set begin with, without a slash at its end: the address at which it was first served.',
    }),
    received_at: moment('When the request came in.'),
    request_id: nullable(text('The id of the request, for the audit trail.')),
    patient_id: nullable(id('The patient whom the request is about, once the Health ID is resolved.')),
    health_id: nullable(text('The Health ID of that patient.')),
    encounter_id: nullable(id('The visit the request is about, where it is known.')),
    organization_id: nullable(id('The organisation that called.')),
    practitioner_id: nullable(id('The practitioner on whose behalf it called.')),
    consent_opens: nullable(
      code(
        ['everything', 'parts', 'nothing', 'emergencies'],
        'How much the consent opens that the record is about. parts: the resource types of resource_types. emergencies: nothing, save in an emergency. Absent: not known, so nothing.',
      ),
    ),
    resource_types: nullable(
      Type.Array(text('A resource type, such as Condition.'), {
        description: 'The resource types that the consent opens.',
      }),
    ),
    observation_categories: nullable(
      Type.Array(text('A code of observation-category, such as laboratory.'), {
        description: 'What of these the consent opens: only what has one of these categories.',
      }),
    ),
  },
  {
    $id: 'Context',
    description: 'What the service knows beside the record.',
    additionalProperties: false,
  },
)
