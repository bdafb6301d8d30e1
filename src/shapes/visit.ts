// A visit of a patient to a facility, as record lists and patient summaries give it; stored as Encounter.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Encounter. */
export const Visit = Type.Object(
  {
    id: id('The id of the visit.'),
    patient_id: id('The patient.'),
    provider_id: nullable(id('The main responsible practitioner.')),
    facility_id: nullable(id('The facility where the visit takes place.')),
    appointment_id: nullable(id('The appointment that led to the visit.')),
    visit_type: code(
      ['outpatient', 'inpatient', 'emergency', 'home', 'field', 'virtual', 'day_case', 'observation', 'pre_admission'],
      'Where and how the patient is seen. field: outreach, for example a vaccination round. day_case: admitted and discharged on the same day.',
    ),
    department: nullable(text('The department or service: maternity, paediatrics, HIV care.')),
    reason: nullable(text('The reason for the visit.')),
    status: code(
      [
        'planned',
        'arrived',
        'triaged',
        'in_progress',
        'on_leave',
        'finished',
        'cancelled',
        'entered_in_error',
        'unknown',
      ],
      'finished: the patient has left and the record is closed.',
    ),
    started_at: nullable(moment('When the visit began.')),
    ended_at: nullable(moment('When the visit ended.')),
  },
  {
    $id: 'Visit',
    description: 'A visit, stay or contact of a patient.',
    additionalProperties: false,
  },
)
