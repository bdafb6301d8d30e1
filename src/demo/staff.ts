// The people who work in the demo hospital, and the consultation hours of one of them.
import type { JsonObject } from '../lib/json.ts'
import { type Clock, coding, organization, practitioner, reference, terminology } from './fhir.ts'
import { departments } from './places.ts'

export const nurse = 'esther-ngono'
export const midwife = 'clarisse-atangana'
/** A Schedule. */
const consultations = 'dr-nadine-fouda-consultations'

export function demoStaff(clock: Clock): JsonObject[] {
  return [
    ...person(practitioner, ['Fouda', 'Nadine', 'Dr'], 'doctor', departments.outpatients),
    ...person(nurse, ['Ngono', 'Esther'], 'nurse', departments.emergency),
    ...person(midwife, ['Atangana', 'Clarisse'], 'nurse', departments.ward),
    {
      resourceType: 'Schedule',
      id: consultations,
      active: true,
      serviceType: [{ text: 'Consultation' }],
      actor: [reference('Practitioner', practitioner), reference('Location', departments.outpatients)],
    },
    slot(1, 'busy', clock.day(7), '09'),
    slot(2, 'free', clock.day(7), '10'),
    slot(3, 'free', clock.day(8), '09'),
  ]
}

type Name = readonly [family: string, given: string, prefix?: string]

function person(id: string, [family, given, prefix]: Name, role: string, location: string): JsonObject[] {
  return [
    {
      resourceType: 'Practitioner',
      id,
      active: true,
      name: [{ family, given: [given], ...(prefix ? { prefix: [prefix] } : {}) }],
      gender: 'female',
    },
    {
      resourceType: 'PractitionerRole',
      id: `${id}-role`,
      active: true,
      practitioner: reference('Practitioner', id),
      organization: reference('Organization', organization),
      code: [coding(`${terminology}/practitioner-role`, role, role === 'doctor' ? 'Doctor' : 'Nurse')],
      location: [reference('Location', location)],
      availableTime: [
        {
          daysOfWeek: ['mon', 'tue', 'wed', 'thu', 'fri'],
          availableStartTime: '08:00:00',
          availableEndTime: '16:00:00',
        },
      ],
    },
  ]
}

function slot(number: number, status: string, day: string, hour: string): JsonObject {
  return {
    resourceType: 'Slot',
    id: `${consultations}-${number}`,
    schedule: reference('Schedule', consultations),
    status,
    start: `${day}T${hour}:00:00+01:00`,
    end: `${day}T${hour}:30:00+01:00`,
  }
}
