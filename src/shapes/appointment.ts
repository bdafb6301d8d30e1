// An appointment, as the appointments interface takes and gives it; stored as Appointment.

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Appointment. */
export const AppointmentRecord = Type.Object(
  {
    id: id('The appointment itself.'),
    patient_id: id('The patient who is expected.'),
    provider_id: nullable(id('The practitioner who will see the patient.')),
    facility_id: nullable(id('The facility where it takes place.')),
    status: code(
      [
        'proposed',
        'pending',
        'booked',
        'arrived',
        'checked_in',
        'fulfilled',
        'cancelled',
        'no_show',
        'waitlist',
        'entered_in_error',
      ],
      'booked: agreed. checked_in: the patient is here and registered. fulfilled: took place.',
    ),
    appointment_type: nullable(
      code(
        ['routine', 'walk_in', 'check_up', 'follow_up', 'emergency'],
        'What kind of appointment it is, as HL7 v2 table 0276 has it.',
      ),
    ),
    service: nullable(text('The service that is booked: antenatal care, dental care.')),
    reason: nullable(text('Why the patient comes.')),
    starts_at: nullable(moment('When it begins. Beginning and end are given together or not at all.')),
    ends_at: nullable(moment('When it ends.')),
    duration_minutes: nullable(Type.Integer({ minimum: 1, description: 'How long it is planned to take.' })),
    cancellation_reason: nullable(text('Why it was cancelled or did not take place.')),
    notes: nullable(text('What the facility should know.')),
    created_at: nullable(moment('When it was made.')),
  },
  {
    $id: 'AppointmentRecord',
    description: 'An appointment of a patient with a practitioner or a facility.',
    additionalProperties: false,
  },
)
