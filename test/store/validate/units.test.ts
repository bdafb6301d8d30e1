// Units of UCUM: https://ucum.org/ucum
import { expect, test } from 'vitest'
import { validateResource } from '../../../src/store/validate.ts'
import { observation } from './table.ts'

const UCUM = 'http://unitsofmeasure.org'
const weight = (code: string, system = UCUM) => observation({ valueQuantity: { value: 1, system, code } })

test.each([
  ...['mm[Hg]', '10*9/L', '10*-3.m', 'mL/min/{1.73_m2}', '{score}', '/[HPF]', "[arb'U]/mL", 'kg.m/s2', 'm2', '1', '%'],
  ...['(ug/d)/(8.h)', '/(24.h)', 'umol/L{venous}', 'dB[SPL]', 'cal_[15]', "''", 'Cel', '[degF]', 'KiBy', '10^6/uL'],
])('%s is a unit', code => {
  expect(validateResource(weight(code))).toEqual([])
})

test.each([
  ['a second prefix', 'fmm[Hg]', ''],
  ['a prefix where UCUM has none', 'kwk', ''],
  ['a spelling of its own', 'mmHg', '; did you mean "mm[Hg]"?'],
  ['what only looks like another unit', 'mcg', '; did you mean "ug"?'],
  ['two slashes', 'g//L', ''],
  ['a slash at the end', 'g/', ''],
  ['an open parenthesis', 'g/(mL.h', ''],
  ['a closed one alone', 'mol)', ''],
  ['an open annotation', 'umol{venous', ''],
  ['words', '(score)', ''],
  ['Greek', 'µg', '; did you mean "ug"?'],
])('%s is a warning, and the resource is valid', (_name, code, suggestion) => {
  expect(validateResource(weight(code))).toEqual([
    {
      severity: 'warning',
      code: 'code-invalid',
      diagnostics: `\`code\` is not a UCUM code: ${JSON.stringify(code)}${suggestion}`,
      expression: 'Observation.value.code',
    },
  ])
})

test('a coding has a unit too, and any kind of Quantity', () => {
  const coded = observation({
    valueCodeableConcept: { coding: [{ system: UCUM, code: 'tablet' }] },
    referenceRange: [{ age: { high: { value: 1, system: UCUM, code: 'years' } } }],
    extension: [{ url: 'http://a', valueDuration: { value: 1, system: UCUM, code: 'days' } }],
  })
  expect(validateResource(coded).map(({ severity, expression }) => [severity, expression])).toEqual([
    ['warning', 'Observation.value.coding[0].code'],
    ['warning', 'Observation.referenceRange[0].age.high.code'],
    ['warning', 'Observation.extension[0].value.code'],
  ])
})

test('what comes from another system is its own', () => {
  expect(validateResource(weight('tablet', 'http://example.org/units'))).toEqual([])
})

test('a hundred wrong units are listed, and thousands are counted', () => {
  const component = Array.from({ length: 2000 }, () => ({
    code: { text: 'a' },
    valueQuantity: { value: 1, system: UCUM, code: 'mmHg' },
  }))
  const found = validateResource(observation({ component }))
  expect(found).toHaveLength(101)
  expect(found.at(-1)).toMatchObject({
    severity: 'warning',
    diagnostics: 'Only the first 100 of 2000 problems are listed',
  })
})
