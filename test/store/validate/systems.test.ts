// The systems of codes, identifiers and units: https://hl7.org/fhir/R4/terminologies.html#system
import { expect, test } from 'vitest'
import { validateResource } from '../../../src/store/validate.ts'
import { observation } from './table.ts'

const told = (resource: object) =>
  validateResource(resource).map(({ severity, expression, diagnostics }) => [severity, expression, diagnostics])

test('a system that is no absolute URL is told, and does not make a resource invalid', () => {
  const resource = observation({
    identifier: [{ system: 'MRN', value: '1' }],
    category: [{ coding: [{ system: '#local', code: 'a' }] }],
    valueQuantity: { value: 1, system: 'UCUM', code: 'g' },
    extension: [{ url: 'http://a', valueDuration: { value: 1, system: 'ucum', code: 'd' } }],
  })
  const problem = (system: string) => `\`system\` is not an absolute URL: ${JSON.stringify(system)}`
  expect(told(resource)).toEqual([
    ['warning', 'Observation.identifier[0].system', problem('MRN')],
    ['warning', 'Observation.category[0].coding[0].system', problem('#local')],
    ['warning', 'Observation.value.system', problem('UCUM')],
    ['warning', 'Observation.extension[0].value.system', problem('ucum')],
  ])
  const include = [{ system: 'sct' }]
  expect(told({ resourceType: 'ValueSet', status: 'draft', compose: { include } })).toEqual([
    ['warning', 'ValueSet.compose.include[0].system', problem('sct')],
  ])
})

test('a URN is absolute, no system is fine, and the system of a telephone is a code', () => {
  const identifier = [{ system: 'urn:oid:1.2.3', value: '1' }, { value: '2' }]
  expect(told({ resourceType: 'Patient', identifier, telecom: [{ system: 'phone', value: '1' }] })).toEqual([])
})
