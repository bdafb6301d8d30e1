// An appointment, as the appointments interface takes and gives it; stored as Appointment.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Appointment. */
export const AppointmentRecord = Type.Object(
  {
    id: id('The id of the appointment.'),
    patient_id: id('The patient.'),
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
        'The kind of appointment, as in HL7 v2 table 0276.',
      ),
    ),
    service: nullable(text('The booked service: antenatal care, dental care.')),
    reason: nullable(text('The reason for the appointment.')),
    starts_at: nullable(moment('When the appointment starts. Start and end are given together or not at all.')),
    ends_at: nullable(moment('When the appointment ends.')),
    duration_minutes: nullable(Type.Integer({ minimum: 1, description: 'The planned duration.' })),
    cancellation_reason: nullable(text('Why the appointment was cancelled or did not take place.')),
    notes: nullable(text('Notes for the facility.')),
    created_at: nullable(moment('When it was created.')),
  },
  {
    $id: 'AppointmentRecord',
    description: 'An appointment of a patient with a practitioner or a facility.',
    additionalProperties: false,
  },
)
