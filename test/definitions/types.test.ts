import { expect, test } from 'vitest'
import {
  elementByJsonKey,
  isResourceType,
  isSubtype,
  openTypes,
  resourceTypes,
  typeModel,
  typeNames,
} from '../../src/definitions/r4.ts'

const element = (type: string, name: string) => typeModel(type)!.elements.get(name)!
const keys = (type: string) => typeModel(type)!.constraints.map(it => it.key + (it.element ? `@${it.element}` : ''))

test('there are the 146 resource types of R4 4.0.1, sorted, and no abstract ones', () => {
  expect(resourceTypes).toHaveLength(146)
  expect(resourceTypes).toEqual([...resourceTypes].sort())
  expect(resourceTypes).toContain('MedicationRequest')
  expect(
    ['Resource', 'DomainResource', 'SubscriptionStatus', 'HumanName', 'constructor'].filter(isResourceType),
  ).toEqual([])
})

test('what the source package adds to R4 is not there', () => {
  expect(element('Meta', 'project')).toBeUndefined()
  expect(element('Binary', 'url')).toBeUndefined()
  expect(element('ResearchStudy', 'label')).toBeUndefined()
  expect(typeModel('ResearchStudy.label')).toBeUndefined()
  expect(element('Bundle.entry.response', 'outcome').types).toEqual(['Resource'])
  expect(element('AuditEvent.agent', 'who').targets).not.toContain('Bot')
  expect([...typeModel('EvidenceVariable.characteristic')!.elements.keys()]).toContain('participantEffective')
})

test('every type an element names exists, and every reference target is a resource type', () => {
  for (const name of typeNames) {
    for (const { types, targets } of typeModel(name)!.elements.values()) {
      expect(types.filter(type => !typeModel(type))).toEqual([])
      expect((targets ?? []).filter(type => !isResourceType(type))).toEqual([])
    }
  }
})

test('inherited elements come first, in definition order', () => {
  const names = [...typeModel('Patient')!.elements.keys()]
  expect(names.slice(0, 8)).toEqual([
    'id',
    'meta',
    'implicitRules',
    'language',
    'text',
    'contained',
    'extension',
    'modifierExtension',
  ])
  expect(names.slice(8, 13)).toEqual(['identifier', 'active', 'name', 'telecom', 'gender'])
  expect([...typeModel('Age')!.elements.keys()]).toEqual([...typeModel('Quantity')!.elements.keys()])
})

test('a backbone is a type of its own, named by its path', () => {
  expect(element('Patient', 'contact').types).toEqual(['Patient.contact'])
  expect(typeModel('Patient.contact')).toMatchObject({ kind: 'backbone', base: 'BackboneElement', abstract: false })
  expect(typeModel('Timing.repeat')).toMatchObject({ kind: 'backbone', base: 'Element' })
  expect([...typeModel('TestScript.test.action')!.elements.keys()]).toEqual([
    'id',
    'extension',
    'modifierExtension',
    'operation',
    'assert',
  ])
})

test('a content reference is the type it refers to', () => {
  expect(element('Observation.component', 'referenceRange').types).toEqual(['Observation.referenceRange'])
  expect(element('Bundle.entry', 'link').types).toEqual(['Bundle.link'])
})

test('Observation.value[x] has its eleven types and Extension.value[x] all fifty', () => {
  const value = element('Observation', 'value')
  expect(value).toMatchObject({ choice: true, min: 0, max: 1, summary: true })
  expect(value.types).toEqual([
    'Quantity',
    'CodeableConcept',
    'string',
    'boolean',
    'integer',
    'Range',
    'Ratio',
    'SampledData',
    'time',
    'dateTime',
    'Period',
  ])
  expect(element('Extension', 'value').types).toBe(openTypes)
  expect(openTypes).toHaveLength(50)
})

test('FHIRPath system types are written as FHIR types', () => {
  expect(element('Patient', 'id').types).toEqual(['id'])
  expect(element('HumanName', 'id').types).toEqual(['string'])
  expect(element('Extension', 'url').types).toEqual(['uri'])
})

test('cardinality, targets and required bindings are kept', () => {
  expect(element('Observation', 'status')).toMatchObject({
    min: 1,
    max: 1,
    requiredValueSet: 'http://hl7.org/fhir/ValueSet/observation-status',
  })
  expect(element('Observation', 'category').max).toBe(Number.POSITIVE_INFINITY)
  expect(element('Observation', 'code').requiredValueSet).toBeUndefined()
  expect(element('Observation', 'subject').targets).toEqual(['Patient', 'Group', 'Device', 'Location'])
  expect(element('Observation', 'focus').targets).toBeUndefined()
})

test('primitives carry an anchored pattern that their own examples match', () => {
  const matches = (type: string, text: string) => new RegExp(typeModel(type)!.pattern!).test(text)
  expect(matches('date', '1973-02')).toBe(true)
  expect(matches('date', '1973-2')).toBe(false)
  expect(matches('id', 'has space')).toBe(false)
  expect(matches('instant', '2015-02-07T13:28:17.239+02:00')).toBe(true)
  expect(typeNames.filter(name => typeModel(name)!.kind === 'primitive' && !typeModel(name)!.pattern)).toEqual([
    'xhtml',
  ])
})

test('invariants are inherited, sit on the type they concern and are not repeated from the elements own types', () => {
  expect(keys('Observation')).toEqual(['dom-2', 'dom-3', 'dom-4', 'dom-5', 'dom-6', 'obs-6', 'obs-7'])
  expect(keys('Observation.referenceRange')).toEqual(['ele-1', 'obs-3'])
  expect(keys('Organization')).toContain('org-2@address')
  expect(keys('RiskAssessment.prediction')).toContain('ras-1@probability')
  expect(keys('Age')).toEqual(['ele-1', 'qty-3', 'age-1'])
  expect(typeModel('Observation')!.constraints.at(-2)).toEqual({
    key: 'obs-6',
    severity: 'error',
    human: 'dataAbsentReason SHALL only be present if Observation.value[x] is not present',
    expression: 'dataAbsentReason.empty() or value.empty()',
    element: undefined,
  })
})

test('subtypes are known across levels', () => {
  expect(isSubtype('Patient', 'Resource')).toBe(true)
  expect(isSubtype('Bundle', 'DomainResource')).toBe(false)
  expect(isSubtype('positiveInt', 'integer')).toBe(true)
  expect(isSubtype('code', 'string')).toBe(true)
  expect(isSubtype('Patient.contact', 'Element')).toBe(true)
  expect(isSubtype('nonsense', 'Element')).toBe(false)
})

test('a JSON key leads to its element and the type of its value', () => {
  expect(elementByJsonKey('Observation', 'valueQuantity')).toMatchObject({
    type: 'Quantity',
    element: { name: 'value' },
  })
  expect(elementByJsonKey('Patient', 'deceasedBoolean')?.type).toBe('boolean')
  expect(elementByJsonKey('Patient', 'birthDate')?.type).toBe('date')
  expect(
    ['value', 'valueAddress', '_status', 'constructor', '__proto__'].map(key => elementByJsonKey('Observation', key)),
  ).toEqual(Array(5).fill(undefined))
})
