import { expect, test } from 'vitest'
import { compartmentParams, compartments, resourceTypes, searchParams, typeModel } from '../../src/definitions/r4.ts'

const param = (type: string, code: string) => searchParams(type).get(code)!

test('there are as many parameters as R4 has, and the additions of US Core', () => {
  const count = resourceTypes.map(type => [...searchParams(type).keys()].filter(code => !code.startsWith('_')).length)
  expect(count.reduce((a, b) => a + b)).toBe(1697 + 7)
})

test('every type has the parameters of all resources, rooted in itself', () => {
  const common = ['_content', '_id', '_lastUpdated', '_profile', '_query', '_security', '_source', '_tag']
  for (const type of resourceTypes) expect([...searchParams(type).keys()]).toEqual(expect.arrayContaining(common))
  expect(param('Patient', '_id')).toMatchObject({ type: 'token', expression: 'Patient.id' })
  expect(param('Patient', '_lastUpdated').expression).toBe('Patient.meta.lastUpdated')
  expect(searchParams('Patient').has('_text')).toBe(true)
  expect(searchParams('Bundle').has('_text')).toBe(false)
})

test('a union over many types is cut to the branch of one', () => {
  expect(param('Encounter', 'date').expression).toBe('Encounter.period')
  expect(param('MedicationRequest', 'code').expression).toBe('MedicationRequest.medication.ofType(CodeableConcept)')
  expect(param('Observation', 'value-string').expression).toBe(
    'Observation.value.ofType(string) | Observation.value.ofType(CodeableConcept).text',
  )
  expect(param('Patient', 'phone').expression).toBe("Patient.telecom.where(system='phone')")
  expect(param('Patient', 'phone').description).toBe('A value in a phone contact')
})

test('the parameters of Encounter are those of R4 and one of US Core', () => {
  expect([...searchParams('Encounter').keys()].filter(code => !code.startsWith('_'))).toEqual([
    'account',
    'appointment',
    'based-on',
    'class',
    'date',
    'diagnosis',
    'discharge-disposition',
    'episode-of-care',
    'identifier',
    'length',
    'location',
    'location-period',
    'part-of',
    'participant',
    'participant-type',
    'patient',
    'practitioner',
    'reason-code',
    'reason-reference',
    'service-provider',
    'special-arrangement',
    'status',
    'subject',
    'type',
  ])
})

test('every expression begins with its own type and uses ofType, never as', () => {
  for (const type of resourceTypes) {
    for (const { expression } of searchParams(type).values()) {
      for (const branch of expression?.split(' | ') ?? []) expect(branch).toMatch(new RegExp(`^${type}(\\.|$)`))
      expect(expression ?? '').not.toMatch(/ as |\.as\(/)
    }
  }
})

test('every plain path of an expression exists in the model', () => {
  const missing = resourceTypes.flatMap(type =>
    [...searchParams(type).values()].flatMap(({ code, expression }) =>
      (expression?.split(' | ') ?? []).filter(path => !exists(path)).map(path => `${type} ${code}: ${path}`),
    ),
  )
  expect(missing).toEqual([])
})

test('a patient parameter points at patients only, a general reference at any type', () => {
  expect(param('Observation', 'patient')).toMatchObject({
    expression: 'Observation.subject.where(resolve() is Patient)',
    targets: ['Patient'],
  })
  expect(param('Observation', 'subject').targets?.toSorted()).toEqual(['Device', 'Group', 'Location', 'Patient'])
  expect(param('Observation', 'focus').targets).toBeUndefined()
})

test('a composite names its components', () => {
  expect(param('Observation', 'code-value-quantity')).toMatchObject({
    type: 'composite',
    expression: 'Observation',
    components: [
      { definition: 'http://hl7.org/fhir/SearchParameter/clinical-code', expression: 'code' },
      {
        definition: 'http://hl7.org/fhir/SearchParameter/Observation-value-quantity',
        expression: 'value.ofType(Quantity)',
      },
    ],
  })
  expect(param('Observation', 'code-value-date').components![1]!.expression).toBe(
    'value.ofType(dateTime) | value.ofType(Period)',
  )
})

test('the component parameters of every composite exist', () => {
  const all = resourceTypes.flatMap(type => [...searchParams(type).values()])
  const urls = new Set(all.map(it => it.url))
  expect(all.flatMap(it => it.components ?? []).filter(it => !urls.has(it.definition))).toEqual([])
})

test('US Core adds what R4 lacks and replaces nothing', () => {
  expect(param('Patient', 'race')).toMatchObject({
    url: 'http://hl7.org/fhir/us/core/SearchParameter/us-core-race',
    type: 'token',
    expression:
      "Patient.extension.where(url = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race').extension.value.ofType(Coding)",
  })
  expect(param('Condition', 'asserted-date').expression).toMatch(/\.value\.ofType\(dateTime\)$/)
  expect(param('Goal', 'description').url).toContain('us-core')
  expect(param('Patient', 'name').url).toBe('http://hl7.org/fhir/SearchParameter/Patient-name')
})

test('compartments are reached through parameters that exist', () => {
  expect(compartments).toEqual(['Device', 'Encounter', 'Patient', 'Practitioner', 'RelatedPerson'])
  expect(compartmentParams('Patient', 'Observation')).toEqual(['subject', 'performer'])
  expect(compartmentParams('Patient', 'Patient')).toEqual(['link'])
  expect(compartmentParams('Encounter', 'Observation')).toEqual(['encounter'])
  expect(compartmentParams('Patient', 'Organization')).toEqual([])
  expect(compartmentParams('Patient', 'constructor')).toEqual([])
  expect(compartmentParams('Organization', 'Patient')).toEqual([])
  for (const of of compartments) {
    for (const type of resourceTypes)
      expect(compartmentParams(of, type).filter(code => !searchParams(type).has(code))).toEqual([])
  }
})

function exists(path: string): boolean {
  if (path.includes(' and ')) return true
  const [root, ...steps] = path
    .replace(/where\((?:[^()]|\([^()]*\))*\)/g, '')
    .replace('[0]', '')
    .split('.')
    .filter(Boolean)
  let types: readonly string[] = [root!]
  for (const step of steps) {
    const cast = step.match(/^ofType\((\w+)\)$/)?.[1]
    types = cast
      ? types.filter(type => type === cast)
      : types.flatMap(type => typeModel(type)?.elements.get(step)?.types ?? [])
  }
  return types.length > 0
}
