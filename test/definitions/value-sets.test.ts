import { expect, test } from 'vitest'
import { typeModel, typeNames, valueSetCodes, valueSetHas } from '../../src/definitions/r4.ts'

const VS = 'http://hl7.org/fhir/ValueSet'

test('the gender of a patient is bound to four codes', () => {
  const url = typeModel('Patient')!.elements.get('gender')!.requiredValueSet!
  expect(url).toBe(`${VS}/administrative-gender`)
  expect(valueSetCodes(url)).toEqual(['male', 'female', 'other', 'unknown'])
})

test('a code is looked up with its system or in all systems of the set', () => {
  const url = `${VS}/condition-clinical`
  const system = 'http://terminology.hl7.org/CodeSystem/condition-clinical'
  expect(valueSetHas(url, 'recurrence', system)).toBe(true)
  expect(valueSetHas(url, 'recurrence')).toBe(true)
  expect(valueSetHas(url, 'recurrence', 'http://example.org')).toBe(false)
  expect(valueSetHas(url, 'bogus')).toBe(false)
})

test('nested codes belong to the set: inactive contains remission', () => {
  expect(valueSetHas(`${VS}/condition-clinical`, 'remission')).toBe(true)
})

test('types are bound to the names of all R4 types', () => {
  expect(valueSetHas(`${VS}/all-types`, 'DomainResource')).toBe(true)
  expect(valueSetHas(`${VS}/all-types`, 'MoneyQuantity')).toBe(true)
})

test('a set bound by HL7 but not shipped in the source is filled in by hand', () => {
  const url = 'http://terminology.hl7.org/ValueSet/v3-ConfidentialityClassification'
  expect(valueSetCodes(url)).toEqual(['U', 'L', 'M', 'N', 'R', 'V'])
})

test('only sets whose codes come from outside FHIR are unknown', () => {
  const bound = typeNames.flatMap(name => [...typeModel(name)!.elements.values()].map(it => it.requiredValueSet))
  const unknown = new Set(bound.filter(url => url && valueSetHas(url, 'x') === undefined))
  expect([...unknown].sort()).toEqual([
    `${VS}/all-languages`,
    `${VS}/currencies`,
    `${VS}/mimetypes`,
    `${VS}/ucum-units`,
    'http://loinc.org/vs/LL379-9',
  ])
  expect(valueSetHas('constructor', 'x')).toBeUndefined()
})
