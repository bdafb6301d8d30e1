import { expect, test } from 'vitest'
import { validateResource } from '../../src/store/validate.ts'
import { observation, patient } from './validate/table.ts'

test('all problems are told at once', () => {
  const found = validateResource({
    resourceType: 'Patient',
    gendr: 'x',
    birthDate: '1973-02-30',
    name: {},
    contact: [{ gender: 'm' }],
  })
  expect(found.map(it => it.expression)).toEqual([
    'Patient.gendr',
    'Patient.birthDate',
    'Patient.name',
    'Patient.contact[0].gender',
  ])
  expect(new Set(found.map(it => it.severity))).toEqual(new Set(['error']))
})

test('of very many problems the first hundred are told', () => {
  const found = validateResource(patient({ name: Array(5000).fill(null) }))
  expect(found).toHaveLength(101)
  expect(found.at(-1)).toEqual({
    severity: 'error',
    code: 'too-costly',
    diagnostics: 'Only the first 100 of 5000 problems are listed',
    expression: 'Patient',
  })
})

test('ten thousand unknown elements are refused without ten thousand suggestions', () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => [`gender${i}`, 'male'])
  expect(validateResource(patient(Object.fromEntries(keys)))).toHaveLength(101)
})

test('nesting is followed for 64 levels and no further', () => {
  const nested = (levels: number): object =>
    levels === 1 ? { linkId: 'a' } : { linkId: 'a', item: [nested(levels - 1)] }
  const response = (levels: number) => ({
    resourceType: 'QuestionnaireResponse',
    status: 'completed',
    item: [nested(levels)],
  })
  expect(validateResource(response(63))).toEqual([])
  expect(validateResource(response(3000)).map(it => [it.code, it.diagnostics])).toEqual([
    ['too-costly', 'nested deeper than 64 levels'],
  ])
})

test('nor does a contained resource nested without end overflow the stack', () => {
  let item: object = { linkId: 'a' }
  for (let i = 0; i < 5000; i++) item = { linkId: 'a', item: [item] }
  const contained = [{ resourceType: 'QuestionnaireResponse', id: 'q', status: 'completed', item: [item] }]
  expect(validateResource(patient({ contained })).map(it => it.code)).toEqual(['too-costly', 'invariant'])
})

test('the type can be asked for', () => {
  expect(validateResource(patient({ active: true }), { type: 'Patient' })).toEqual([])
  expect(validateResource(patient({ active: true }), { type: 'Person' })[0]!.diagnostics).toBe(
    'expected a resource of type Person, not Patient',
  )
})

test('a caller that resolves searches may allow them as references', () => {
  const resource = observation({ subject: { reference: 'Patient?identifier=1' } })
  expect(validateResource(resource, { conditionalReferences: true })).toEqual([])
})
