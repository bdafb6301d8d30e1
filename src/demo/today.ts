// What happens in the demo hospital when the demo set is loaded: who waits, who lies in a bed, and who has an appointment.
import type { JsonObject } from '../lib/json.ts'
import {
  at,
  type Clock,
  code,
  coding,
  loinc,
  organization,
  own,
  practitioner,
  r5,
  reference,
  terminology,
  v3Act,
} from './fhir.ts'
import { departments, occupiedBed } from './places.ts'
import { midwife, nurse } from './staff.ts'

export function demoToday(clock: Clock): JsonObject[] {
  return [
    triageLevels(),
    waiting(clock),
    inEmergency(clock),
    triage(clock),
    inpatient(clock),
    consultation(clock),
    ...telemedicine(clock),
  ]
}

const visit = (
  id: string,
  patient: string,
  status: string,
  [type, display]: readonly [string, string],
): JsonObject => ({
  resourceType: 'Encounter',
  id,
  status,
  class: { system: v3Act, code: type, display },
  subject: reference('Patient', patient),
  serviceProvider: reference('Organization', organization),
})

const ambulatory = ['AMB', 'ambulatory'] as const

/** In the queue of the outpatients: arrived, with a ticket. */
const waiting = (clock: Clock): JsonObject => ({
  ...visit('amina-bello-today', 'amina-bello', 'arrived', ambulatory),
  identifier: [{ system: `${own}/NamingSystem/queue-ticket`, value: 'A-017' }],
  location: [{ location: reference('Location', departments.outpatients), status: 'active' }],
  period: { start: clock.minutes(-35) },
})

/** In the queue of the emergency room: triaged, and urgent. */
const inEmergency = (clock: Clock): JsonObject => ({
  ...visit('jean-paul-mbarga-today', 'jean-paul-mbarga', 'triaged', ['EMER', 'emergency']),
  statusHistory: [{ status: 'arrived', period: { start: clock.minutes(-25), end: clock.minutes(-15) } }],
  priority: coding(`${terminology}/v3-ActPriority`, 'UR', 'urgent'),
  location: [{ location: reference('Location', departments.emergency), status: 'active' }],
  period: { start: clock.minutes(-25) },
})

const triage = (clock: Clock): JsonObject => ({
  resourceType: 'Observation',
  id: 'jean-paul-mbarga-triage',
  status: 'final',
  category: [code(`${terminology}/observation-category`, 'survey')],
  code: coding(loinc, '11283-9', 'Acuity assessment'),
  subject: reference('Patient', 'jean-paul-mbarga'),
  encounter: reference('Encounter', 'jean-paul-mbarga-today'),
  effectiveDateTime: clock.minutes(-15),
  performer: [reference('Practitioner', nurse)],
  valueCodeableConcept: coding(`${own}/CodeSystem/triage-level`, 'orange', 'Very urgent'),
})

/** From the most urgent: how long a patient may wait. */
const levels: readonly (readonly [code: string, display: string, definition: string])[] = [
  ['red', 'Emergency', 'Treat at once.'],
  ['orange', 'Very urgent', 'Treat within 10 minutes.'],
  ['yellow', 'Urgent', 'Treat within 60 minutes.'],
  ['green', 'Routine', 'Treat within 4 hours.'],
  ['blue', 'Dead', 'No sign of life.'],
]

function triageLevels(): JsonObject {
  return {
    resourceType: 'CodeSystem',
    id: 'demo-triage-level',
    url: `${own}/CodeSystem/triage-level`,
    name: 'TriageLevel',
    title: 'Levels of triage, from the most urgent',
    status: 'active',
    content: 'complete',
    concept: levels.map(([value, display, definition]) => ({ code: value, display, definition })),
  }
}

const inpatient = (clock: Clock): JsonObject => ({
  ...visit('grace-tchoumi-stay', 'grace-tchoumi', 'in-progress', ['IMP', 'inpatient encounter']),
  episodeOfCare: [reference('EpisodeOfCare', 'grace-tchoumi-pregnancy')],
  participant: [{ individual: reference('Practitioner', midwife) }],
  period: { start: clock.minutes(-1500) },
  location: [
    { location: reference('Location', departments.ward), status: 'active' },
    { location: reference('Location', occupiedBed), status: 'active', period: { start: clock.minutes(-1440) } },
  ],
})

/** Of a patient with the doctor. */
const appointment = (id: string, patient: string, day: string, more: JsonObject): JsonObject => ({
  resourceType: 'Appointment',
  id,
  status: 'booked',
  start: at(day),
  end: at(day, '09:30:00'),
  ...more,
  participant: [
    { actor: reference('Patient', patient), status: 'accepted' },
    { actor: reference('Practitioner', practitioner), status: 'accepted' },
  ],
})

const consultation = (clock: Clock): JsonObject =>
  appointment('amina-bello-appointment', 'amina-bello', clock.day(7), {
    serviceType: [{ text: 'Consultation' }],
    slot: [reference('Slot', 'dr-nadine-fouda-consultations-1')],
  })

/** A video call: R4 has no place for its address, R5 has. */
function telemedicine(clock: Clock): JsonObject[] {
  const id = 'jean-paul-mbarga-video'
  return [
    appointment(id, 'jean-paul-mbarga', clock.day(3), {
      extension: [
        {
          url: `${r5}/extension-Appointment.virtualService`,
          extension: [{ url: 'address', valueUrl: 'https://video.example.org/rooms/7f3a' }],
        },
      ],
      serviceType: [{ text: 'Video consultation' }],
    }),
    {
      ...visit(`${id}-visit`, 'jean-paul-mbarga', 'planned', ['VR', 'virtual']),
      appointment: [reference('Appointment', id)],
      participant: [{ individual: reference('Practitioner', practitioner) }],
    },
  ]
}
