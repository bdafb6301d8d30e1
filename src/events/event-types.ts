// The types of events, as subscribers know them, in the order of the interface: §6.1, and the envelope of §6.2.

import { type TObject, Type } from 'typebox'
import { moment } from '../shapes/fields.ts'
import { appointmentEvents } from './appointments.ts'
import { bridgeEvents } from './bridge.ts'
import { consentEvents } from './consents.ts'
import { documentEvents } from './documents.ts'
import { encounterEvents } from './encounters.ts'
import { laboratoryEvents } from './orders-and-results.ts'
import { patientEvents } from './patients.ts'
import { prescriptionEvents } from './prescriptions.ts'
import type { Description } from './telling.ts'

const all = {
  ...patientEvents,
  ...consentEvents,
  ...encounterEvents,
  ...laboratoryEvents,
  ...prescriptionEvents,
  ...appointmentEvents,
  ...documentEvents,
  ...bridgeEvents,
}

export type EventType = keyof typeof all

/** What there is to know of each. */
export const eventTypes: Readonly<Record<EventType, Description>> = all

/** True for the name of one. */
export const isEventType = (name: string): name is EventType => Object.hasOwn(eventTypes, name)

/** All of them, each with the schema of what is delivered. */
export const describedEvents = (): { type: EventType; description: string; schema: TObject }[] =>
  (Object.keys(all) as EventType[]).map(type => ({
    type,
    description: all[type].description,
    schema: envelopeSchema(type),
  }))

/** Version of what is delivered. */
export const payloadVersion = '1.0'

/** The whole of what is delivered for an event of the type. */
export function envelopeSchema(type: EventType): TObject {
  const { description, data } = eventTypes[type]
  return Type.Object(
    {
      id: Type.String({ pattern: '^evt_', description: 'The event; it is replayed by this id.' }),
      type: Type.Literal(type, { description: 'What happened.' }),
      version: Type.Literal(payloadVersion, { description: 'Version of this shape.' }),
      created_at: moment('When it happened, in UTC.'),
      data: Type.Object({ ...data.properties, resource }, { description, additionalProperties: false }),
      meta,
    },
    { $id: `${pascal(type)}Event`, description },
  )
}

const resource = Type.Optional(
  Type.Object(
    {},
    { additionalProperties: true, description: 'The FHIR resource, for subscriptions of payload_mode full.' },
  ),
)

const meta = Type.Object(
  {
    organization_id: Type.String({ description: 'The organisation by which it happened; empty if there was none.' }),
    facility_id: Type.String({ description: 'The facility where it happened; empty if nobody said.' }),
    environment: Type.String({ description: 'local, sandbox or production.' }),
    request_id: Type.String({ description: 'The request by which it happened.' }),
  },
  { additionalProperties: Type.String(), description: 'Where the event comes from.' },
)

/** `lab_result.released` as the name of a shape: `LabResultReleased`. */
const pascal = (type: string): string =>
  type.replace(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())
