// Events about appointments: interface §6.1. https://hl7.org/fhir/R4/appointment.html

import { id, text } from '../shapes/fields.ts'
import { objects } from '../store/values.ts'
import { all, any, became, gone, type LifecycleStep, type State, type Surroundings, status, was } from './claims.ts'
import { described, type EventContent, facilityId, orNull } from './content.ts'
import { codeIn, facilityIn, latest, patientIn } from './elements.ts'

const data = {
  appointment_id: id('The appointment.'),
  status: orNull(text('The FHIR status: booked, arrived, cancelled; or deleted.')),
  facility_id: facilityId,
}

const example = {
  health_id: 'CM-6TTH-APZW-3HP1',
  appointment_id: 'c06f8b3a-d951-4e27-a8f4-7b2e5d90c1f3',
  status: 'booked',
  facility_id: 'hopital-central-yaounde',
}

export const appointmentEvents = {
  'appointment.created': described('Appointment scheduled', data, example),
  'appointment.checked_in': described('Patient checked in', data, { ...example, status: 'checked-in' }),
  'appointment.cancelled': described('Appointment cancelled', data, { ...example, status: 'cancelled' }),
}

const ahead = ['proposed', 'pending', 'booked', 'waitlist', 'arrived', 'checked-in']

/** The patient has arrived. */
export const isAttended: State = status('arrived', 'checked-in')
/** It is to take place. */
export const isAhead: State = status(...ahead)
export const isFulfilled: State = status('fulfilled')
/** It is to take place, or has. */
export const isKept: State = status(...ahead, 'fulfilled')

/** The appointment does not take place. A patient who does not come has not cancelled it. */
export const calledOff = all(was(isAhead), any(became('cancelled', 'entered-in-error'), gone))

/** An appointment, and its status. */
export function appointment(step: LifecycleStep): EventContent {
  const { id, now, around } = step
  const resource = latest(step)
  const participants = objects(resource['participant']).map(({ actor }) => actor)
  const facility = facilityIn(resource, around, participants)
  return {
    patient: onlyPatient(participants, around),
    facility,
    data: {
      appointment_id: id,
      status: now ? codeIn(resource['status']) : 'deleted',
      facility_id: facility ?? null,
    },
  }
}

/** An appointment of several patients has no single subject. */
function onlyPatient(participants: readonly unknown[], around: Surroundings): string | undefined {
  const patients = new Set(participants.flatMap(each => patientIn(each, around) ?? []))
  return patients.size === 1 ? [...patients][0] : undefined
}
