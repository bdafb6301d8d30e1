// The types of events, as subscribers know them, in the order of the interface: §6.1, and the envelope of §6.2.

import { type TObject, Type } from '../lib/schema.ts'
import { moment } from '../shapes/fields.ts'
import { appointmentEvents } from './appointments.ts'
import { bridgeEvents } from './bridge.ts'
import { consentEvents } from './consents.ts'
import type { Description } from './content.ts'
import { documentEvents } from './documents.ts'
import { encounterEvents } from './encounters.ts'
import { laboratoryEvents } from './orders-and-results.ts'
import { patientEvents } from './patients.ts'
import { prescriptionEvents } from './prescriptions.ts'

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

/** The description of each type. */
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

/** Version of the payload. */
export const payloadVersion = '1.0'

/** Returns the schema of the payload for an event of the type. */
export function envelopeSchema(type: EventType): TObject {
  const { description, data } = eventTypes[type]
  return Type.Object(
    {
      id: Type.String({ pattern: '^evt_', description: 'The id of the event, used to replay it.' }),
      type: Type.Literal(type, { description: 'The event type.' }),
      version: Type.Literal(payloadVersion, { description: 'The version of the payload format.' }),
      created_at: moment('When the event happened, in UTC.'),
      data: Type.Object({ ...data.properties, resource }, { description, additionalProperties: false }),
      meta,
    },
    { $id: `${pascal(type)}Event`, description },
  )
}

const resource = Type.Optional(
  Type.Object(
    {},
    { additionalProperties: true, description: 'The FHIR resource, for subscriptions with payload_mode full.' },
  ),
)

const meta = Type.Object(
  {
    organization_id: Type.String({ description: 'The organisation that caused the event. Empty if there is none.' }),
    facility_id: Type.String({ description: 'The facility where the event happened. Empty if not recorded.' }),
    environment: Type.String({ description: 'The environment: local, sandbox or production.' }),
    request_id: Type.String({ description: 'The id of the request that caused the event.' }),
  },
  { additionalProperties: Type.String(), description: 'The origin of the event.' },
)

/** `lab_result.released` as the name of a shape: `LabResultReleased`. */
const pascal = (type: string): string =>
  type.replace(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())

/** Returns an invented event of the type, as a subscriber receives it. */
export const exampleEvent = (type: EventType) => ({
  id: 'evt_019be6f0a7c57d4f8f0d3a4b5c6d7e8f',
  type,
  version: payloadVersion,
  created_at: '2026-03-14T09:30:00.000Z',
  data: eventTypes[type].example,
  meta: {
    organization_id: 'hopital-central',
    facility_id: 'hopital-central',
    environment: 'sandbox',
    request_id: '1f0c6b1e-6c1d-4a3f-9d53-0e8f5b7f2f10',
  },
})
