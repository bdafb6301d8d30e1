import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { but, derived, names } from './support.ts'

const visit: JsonObject = {
  resourceType: 'Encounter',
  status: 'in-progress',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: { reference: 'Patient/ngono' },
  reasonCode: [{ text: 'Fièvre' }],
  serviceProvider: { reference: 'Organization/hcy' },
}
const visitOf = (status: string) => but(visit, { status })
const [created, closed] = ['encounter.created', 'encounter.closed']

const visits: readonly [string, JsonObject | undefined, JsonObject | undefined, string[]][] = [
  ['a new one', visit, undefined, [created]],
  ['a planned one', visitOf('planned'), undefined, [created]],
  ['one that begins', visit, visitOf('planned'), []],
  ['one that was over when it was recorded', visitOf('finished'), undefined, [created, closed]],
  ['one that is over', visitOf('finished'), visit, [closed]],
  ['one that is over and is changed', but(visitOf('finished'), { length: {} }), visitOf('finished'), []],
  ['one that goes on after it was closed', visit, visitOf('finished'), []],
  ['a cancelled one', visitOf('cancelled'), visit, []],
  ['one that did not take place', visitOf('cancelled'), undefined, []],
  ['an error', visitOf('entered-in-error'), undefined, []],
  ['one that takes place although it was cancelled', visit, visitOf('cancelled'), [created]],
  ['a deleted one', undefined, visit, []],
]

describe('of an encounter is told', () => {
  test.each(visits)('%s', (_name, now, before, expected) => {
    expect(names('Encounter', now, before)).toEqual(expected)
  })

  test('how the patient is seen and where, and not why', () => {
    expect(derived('Encounter', visit)).toEqual([
      {
        type: created,
        source: { type: 'Encounter', id: 'it', version: 7 },
        patient: 'ngono',
        data: { encounter_id: 'it', status: 'in-progress', class: 'AMB', facility_id: 'hcy' },
        facility: 'hcy',
        audience: 'readers',
      },
    ])
  })

  test('the place, where no organisation is named', () => {
    const location = [{ location: { reference: 'Location/ward' } }]
    expect(derived('Encounter', but(visit, { serviceProvider: undefined, location }))[0]?.facility).toBe('ward')
  })
})

const booked: JsonObject = {
  resourceType: 'Appointment',
  status: 'booked',
  extension: [
    {
      url: 'https://health-interop.org/fhir/StructureDefinition/facility',
      valueReference: { reference: 'Organization/hcy' },
    },
  ],
  participant: [{ actor: { reference: 'Practitioner/p' } }, { actor: { reference: 'Patient/ngono' } }],
}
const of = (status: string) => but(booked, { status })
const [made, here, off] = ['appointment.created', 'appointment.checked_in', 'appointment.cancelled']

const appointments: readonly [string, JsonObject | undefined, JsonObject | undefined, string[]][] = [
  ['a new one', booked, undefined, [made]],
  ['one on the waiting list', of('waitlist'), undefined, [made]],
  ['one that is agreed on', booked, of('proposed'), []],
  ['one that is moved', but(booked, { start: '2026-04-02T09:00:00Z' }), booked, []],
  ['somebody who comes', of('arrived'), booked, [here]],
  ['somebody who is registered', of('checked-in'), of('arrived'), []],
  ['somebody who comes without one', of('arrived'), undefined, [made, here]],
  ['one that has taken place', of('fulfilled'), of('checked-in'), []],
  ['one that was over when it was recorded', of('fulfilled'), undefined, []],
  ['one that was called fulfilled too early', of('arrived'), of('fulfilled'), []],
  ['a cancelled one', of('cancelled'), booked, [off]],
  ['an error', of('entered-in-error'), of('pending'), [off]],
  ['somebody who does not come', of('noshow'), booked, []],
  ['one that was cancelled when it was recorded', of('cancelled'), undefined, []],
  ['one that is cancelled after it has taken place', of('cancelled'), of('fulfilled'), []],
  ['one that is made again after it was cancelled', booked, of('cancelled'), [made]],
  ['a deleted one', undefined, booked, [off]],
  ['a deleted one that was cancelled', undefined, of('cancelled'), []],
  ['one that comes back after a deletion', booked, undefined, [made]],
]

describe('of an appointment is told', () => {
  test.each(appointments)('%s', (_name, now, before, expected) => {
    expect(names('Appointment', now, before)).toEqual(expected)
  })

  test('who is expected, and where', () => {
    expect(derived('Appointment', booked)[0]).toMatchObject({
      patient: 'ngono',
      data: { appointment_id: 'it', status: 'booked', facility_id: 'hcy' },
      facility: 'hcy',
    })
  })

  test('that it is no more', () => {
    expect(derived('Appointment', undefined, booked)[0]?.data).toMatchObject({ status: 'deleted' })
  })

  test('nobody in particular, where several patients are expected', () => {
    const participant = ['a', 'b'].map(id => ({ actor: { reference: `Patient/${id}` } }))
    expect(derived('Appointment', but(booked, { participant }))[0]?.patient).toBeUndefined()
  })
})
