import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { but, derived, names } from './support.ts'

const active: JsonObject = {
  resourceType: 'MedicationRequest',
  status: 'active',
  intent: 'order',
  subject: { reference: 'Patient/ngono' },
  encounter: { reference: 'Encounter/e' },
  requester: { reference: 'Organization/hcy' },
  medicationCodeableConcept: { text: 'Artéméther' },
}
const of = (status: string) => but(active, { status })
const [issued, cancelled] = ['prescription.issued', 'prescription.cancelled']

const cases: readonly [string, JsonObject | undefined, JsonObject | undefined, string[]][] = [
  ['a new one', active, undefined, [issued]],
  ['a draft', of('draft'), undefined, []],
  ['a draft that is signed', active, of('draft'), [issued]],
  ['one that is written to wait', of('on-hold'), undefined, [issued]],
  ['one that waits', of('on-hold'), active, []],
  ['one that goes on', active, of('on-hold'), []],
  ['one that was used up before it was recorded', of('completed'), undefined, []],
  ['one that is used up', of('completed'), active, []],
  ['one that was called completed too early', active, of('completed'), []],
  ['a proposal', but(active, { intent: 'proposal' }), undefined, []],
  ['a reflex order', but(active, { intent: 'reflex-order' }), undefined, [issued]],
  ['a plan that is ordered', active, but(active, { intent: 'plan' }), [issued]],
  ['a cancelled one', of('cancelled'), active, [cancelled]],
  ['a stopped one', of('stopped'), of('on-hold'), [cancelled]],
  ['an error', of('entered-in-error'), active, [cancelled]],
  ['an error that is found after it was used up', of('entered-in-error'), of('completed'), [cancelled]],
  ['a draft that is thrown away', of('cancelled'), of('draft'), []],
  ['one that was stopped before it was recorded', of('stopped'), undefined, []],
  ['one that was stopped, and was an error', of('entered-in-error'), of('stopped'), []],
  ['a deleted one', undefined, active, [cancelled]],
  ['a deleted draft', undefined, of('draft'), []],
  ['a deleted one that was used up', undefined, of('completed'), []],
  ['one that is prescribed again after it was stopped', active, of('stopped'), [issued]],
  ['one that comes back after a deletion', active, undefined, [issued]],
  ['a change of the dose', but(active, { dosageInstruction: [{ text: 'x' }] }), active, []],
]

describe('of a prescription is told', () => {
  test.each(cases)('%s', (_name, now, before, expected) => {
    expect(names('MedicationRequest', now, before)).toEqual(expected)
  })

  test('where it was written, and not which medicine it is', () => {
    expect(derived('MedicationRequest', active)).toEqual([
      {
        type: 'prescription.issued',
        source: { type: 'MedicationRequest', id: 'it', version: 7 },
        patient: 'ngono',
        data: { prescription_id: 'it', encounter_id: 'e', status: 'active', facility_id: 'hcy' },
        facility: 'hcy',
        audience: 'readers',
      },
    ])
  })

  test('that it is no more', () => {
    expect(derived('MedicationRequest', undefined, active)[0]).toMatchObject({
      patient: 'ngono',
      data: { prescription_id: 'it', status: 'deleted', facility_id: 'hcy' },
    })
  })
})

const completed: JsonObject = {
  resourceType: 'MedicationDispense',
  status: 'completed',
  subject: { reference: 'Patient/ngono' },
  performer: [{ actor: { reference: 'Practitioner/p' } }, { actor: { reference: 'Organization/pharmacie' } }],
  authorizingPrescription: [{ reference: 'MedicationRequest/m' }],
}
const preparing = but(completed, { status: 'preparation' })

const dispenses: readonly [string, JsonObject | undefined, JsonObject | undefined, boolean][] = [
  ['one that is given out', completed, preparing, true],
  ['one that was given out', completed, undefined, true],
  ['one that is made ready', preparing, undefined, false],
  ['one that is recorded again', but(completed, { note: [{ text: 'x' }] }), completed, false],
  ['a deleted one', undefined, completed, false],
]

describe('of a dispense is told', () => {
  test.each(dispenses)('%s', (_name, now, before, isTold) => {
    expect(names('MedicationDispense', now, before)).toEqual(isTold ? ['prescription.dispensed'] : [])
  })

  test('on which prescription, and by which pharmacy', () => {
    expect(derived('MedicationDispense', completed)[0]).toMatchObject({
      patient: 'ngono',
      data: { dispense_id: 'it', prescription_id: 'm', facility_id: 'pharmacie' },
      facility: 'pharmacie',
    })
  })
})
