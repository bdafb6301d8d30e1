// Samples of types: what the author of a new map begins with is a valid record, or nearly so.
import { expect, test } from 'vitest'
import { resourceTypes } from '../../src/definitions/r4.ts'
import { createInspect } from '../../src/mapping/validity.ts'
import { sampleOf } from '../../src/mapping/workbench/sample.ts'
import { shapes } from '../../src/shapes/all.ts'
import { deliveredSet } from '../support/maps.ts'

const { structures } = deliveredSet()
const inspect = createInspect(shapes)

test('the sample of a record has each of its elements, with codes that it knows', () => {
  expect(sampleOf('AllergyRecord', structures)).toEqual({
    id: 'example',
    patient_id: 'example',
    provider_id: 'example',
    substance: 'substance',
    severity: 'mild',
    status: 'active',
    created_at: '2026-03-14T09:30:00+01:00',
  })
})

test('samples of records have no unknown element', () => {
  for (const { $id = '' } of shapes as readonly { readonly $id?: string }[]) {
    const faults = inspect(sampleOf($id, structures), $id)
    expect([$id, faults.filter(each => /is unknown|is missing/.test(each))]).toEqual([$id, []])
  }
})

test('the sample of a resource has what is required', () => {
  for (const type of resourceTypes.filter(each => each !== 'Parameters')) {
    const sample = sampleOf(type, structures)!
    expect(sample['resourceType']).toBe(type)
    expect([type, inspect(sample, type).filter(each => /is required|unknown element/.test(each))]).toEqual([type, []])
  }
})

test('there is none of a message, nor of what nobody knows', () => {
  expect(sampleOf('ADT_A01', structures)).toBeUndefined()
  expect(sampleOf('Pacient', structures)).toBeUndefined()
})
