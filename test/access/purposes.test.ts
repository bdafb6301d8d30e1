// The words and codes by which a request says what the data is for.
import { expect, test } from 'vitest'
import { purposeCode, purposes, usualPurpose } from '../../src/access/consent/purposes.ts'

test.each([
  ['treatment', 'TREAT'],
  ['payment', 'HPAYMT'],
  ['operations', 'HOPERAT'],
  ['research', 'HRESCH'],
  ['public_health', 'PUBHLTH'],
  ['emergency', 'ETREAT'],
  [' Public-Health ', 'PUBHLTH'],
  ['TREAT', 'TREAT'],
  ['hresch', 'HRESCH'],
  ['BTG', undefined],
  ['constructor', undefined],
  ['', undefined],
])('%j is the purpose %s', (word, code) => {
  expect(purposeCode(word)).toBe(code)
})

test('there are six purposes, and what does not say is treatment', () => {
  expect(purposes).toEqual(['TREAT', 'HPAYMT', 'HOPERAT', 'HRESCH', 'PUBHLTH', 'ETREAT'])
  expect(usualPurpose).toBe('TREAT')
})
