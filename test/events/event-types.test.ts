import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { type EventType, envelopeSchema, eventTypes, isEventType } from '../../src/events/event-types.ts'

/** In the order and the words of the interface, §6.1. */
const published = `patient.created: New patient registered
patient.updated: Patient demographics updated
health_id.created: New Health ID issued
health_id.verified: Health ID verified by a facility
consent.requested: Consent request sent to patient
consent.granted: Patient grants consent
consent.denied: Patient denies a consent request
consent.revoked: Patient revokes a granted consent; subscriber must stop data access immediately
encounter.created: New encounter or visit recorded
encounter.closed: Encounter finalised
lab_order.created: Lab test ordered
lab_result.released: Lab result published
lab_result.amended: Lab result corrected
prescription.issued: New prescription written
prescription.cancelled: Prescription cancelled
prescription.dispensed: Prescription dispensed
appointment.created: Appointment scheduled
appointment.checked_in: Patient checked in
appointment.cancelled: Appointment cancelled
document.issued: Clinical document issued
document.verified: Document QR verified
bridge_agent.sync_failed: Bridge Agent sync failure`

const types = Object.keys(eventTypes) as EventType[]

interface Described {
  readonly description?: string
  readonly properties?: Record<string, Described>
}

const silent = (shape: Described, path: string): string[] => [
  ...(shape.description ? [] : [path]),
  ...Object.entries(shape.properties ?? {}).flatMap(([name, each]) => silent(each, `${path}.${name}`)),
]

describe('the types of events', () => {
  test('are the 22 of the interface, in its order and its words', () => {
    expect(types.map(type => `${type}: ${eventTypes[type].description}`).join('\n')).toBe(published)
    expect(isEventType('lab_result.released')).toBe(true)
    expect(isEventType('toString')).toBe(false)
  })

  test.each(types)('%s has an example that its schema accepts, and refuses with one field more or less', type => {
    const { data, example } = eventTypes[type]
    const schema = Compile(data)
    expect([...schema.Errors(example)]).toEqual([])
    expect(schema.Check({ ...example, first_name: 'Marie' })).toBe(false)
    for (const field of Object.keys(example))
      expect(schema.Check({ ...example, [field]: undefined }), `without ${field}`).toBe(false)
  })

  test('a released result has exactly the data that the interface names', () => {
    const { data } = eventTypes['lab_result.released']
    expect(Object.keys(data.properties)).toEqual(['health_id', 'lab_result_id', 'test_name', 'flagged', 'facility_id'])
  })
})

describe('the envelope', () => {
  const envelope = {
    id: 'evt_019c',
    type: 'lab_result.released',
    version: '1.0',
    created_at: '2026-03-14T09:42:07.000Z',
    data: eventTypes['lab_result.released'].example,
    meta: { organization_id: 'hcy', facility_id: '', environment: 'sandbox', request_id: 'req-7f3a91c0' },
  }
  const schema = Compile(envelopeSchema('lab_result.released'))

  test('has every field of the interface', () => {
    expect([...schema.Errors(envelope)]).toEqual([])
    for (const field of Object.keys(envelope)) expect(schema.Check({ ...envelope, [field]: undefined })).toBe(false)
  })

  test('is refused with the type, the data or the version of something else, and with a meta that is no text', () => {
    expect(schema.Check({ ...envelope, type: 'lab_result.amended' })).toBe(false)
    expect(schema.Check({ ...envelope, data: eventTypes['patient.created'].example })).toBe(false)
    expect(schema.Check({ ...envelope, version: '2.0' })).toBe(false)
    expect(schema.Check({ ...envelope, meta: { ...envelope.meta, attempt: 2 } })).toBe(false)
    expect(schema.Check({ ...envelope, meta: { ...envelope.meta, region: 'centre' } })).toBe(true)
  })

  test('has a name for each type, and describes every field', () => {
    const schemas = types.map(type => envelopeSchema(type) as Described & { $id?: string })
    expect(schemas.map(({ $id }) => $id)).toContain('LabResultReleasedEvent')
    expect(new Set(schemas.map(({ $id }) => $id)).size).toBe(22)
    expect(schemas.flatMap(each => silent(each, each.$id ?? '?'))).toEqual([])
  })
})
