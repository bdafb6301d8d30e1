// What a Patient says of who it is, as it is compared.
import { expect, test } from 'vitest'
import { mint } from '../../../src/lib/health-id.ts'
import {
  addressesOf,
  healthIdsOf,
  mustHoldHealthIds,
  ownNumbersOf,
  personOf,
  replacementOf,
} from '../../../src/mpi/register/patient.ts'
import { baseOf } from '../../support/base.ts'

const addresses = addressesOf(baseOf('http://localhost'))

test('the systems of Health IDs and of numbers are named after the address of the data set', () => {
  expect(addresses).toMatchObject({
    healthIds: 'http://localhost/fhir/NamingSystem/health-id',
    numbers: 'http://localhost/fhir/NamingSystem/external-reference/',
  })
})

test('a person has the birth date and the sex that the Patient tells', () => {
  expect(personOf({ birthDate: '1991-07-23', gender: 'female' })).toEqual({
    ...{ names: [], birthDate: '1991-07-23', sex: 'female', phones: [] },
  })
})

test('a person has the numbers it is telephoned and texted at, and no other address', () => {
  const telecom = [
    { system: 'phone', value: '650000101' },
    { system: 'sms', value: '650000102' },
    { system: 'email', value: 'ada@example.org' },
    { system: 'phone' },
    { value: '650000103' },
  ]
  expect(personOf({ telecom }).phones).toEqual(['650000101', '650000102'])
})

test('a name is read by its parts, and by its text if it has none', () => {
  const name = [
    { given: ['Ada', 'Marie'], family: 'Ngo', text: 'Dr Ada Ngo' },
    { given: ['Ada'], text: 'Ada Bello' },
    { text: 'Ada Bello' },
    { given: [] },
    { family: '', given: [null, 'Ada'] },
    { family: 7, given: ['Ada'] },
  ]
  expect(personOf({ name }).names).toEqual([
    { given: 'Ada Marie', family: 'Ngo' },
    { given: 'Ada', family: undefined },
    { given: undefined, family: 'Ada Bello' },
    { given: undefined, family: undefined },
    { given: 'Ada', family: undefined },
    { given: 'Ada', family: undefined },
  ])
})

test('a Health ID that is held is no former one, and each is told once', () => {
  const identifier = [
    { system: addresses.healthIds, value: 'A' },
    { system: addresses.healthIds, value: 'B', use: 'old' },
    { system: addresses.healthIds, value: 'A', use: 'old' },
    { system: addresses.healthIds, value: 'B', use: 'old' },
    { system: addresses.healthIds },
    { system: 'http://elsewhere', value: 'C' },
    { value: 'D' },
  ]
  expect(healthIdsOf({ identifier }, addresses)).toEqual({ current: ['A'], former: ['B'] })
})

test('a Health ID, held or former, is one that was given out, in canonical form', () => {
  const held = (value: string, use?: string) => () =>
    mustHoldHealthIds({ identifier: [{ system: addresses.healthIds, value, use }] }, addresses)
  const healthId = mint('CM')
  const wrong = `${healthId.slice(0, -1)}${healthId.endsWith('2') ? '3' : '2'}`
  expect(held(healthId)).not.toThrow()
  expect(held(healthId, 'old')).not.toThrow()
  const refused = (start: string) =>
    expect.objectContaining({
      code: 'INVALID_HEALTH_ID',
      message: expect.stringMatching(start),
      options: { details: [{ field: 'Patient.identifier', code: 'value', message: expect.stringMatching(start) }] },
    })
  for (const use of [undefined, 'old']) {
    expect(held(healthId.toLowerCase(), use)).toThrow(
      refused('^A Health ID in Patient.identifier must have the canonical'),
    )
    expect(held(wrong, use)).toThrow(refused('^A Health ID in Patient.identifier has wrong check symbols'))
  }
})

test('numbers of organisations are those of their systems, with a value', () => {
  const system = `${addresses.numbers}clinic`
  const identifier = [{ system, value: '7' }, { system }, { system: 'http://elsewhere', value: '8' }, { value: '9' }]
  expect(ownNumbersOf({ identifier }, addresses)).toEqual([{ system, value: '7' }])
})

test('a patient is replaced by the first Patient of this server that a link names', () => {
  const link = (type: string, other: unknown) => ({ type, other })
  const to = (reference: string) => ({ reference })
  const replaced = (...links: object[]) => replacementOf({ link: links } as never, addresses)
  expect(replaced(link('replaces', to('Patient/a')), link('seealso', to('Patient/b')))).toBeUndefined()
  expect(replaced(link('replaced-by', 'Patient/a'), link('replaced-by', {}))).toBeUndefined()
  expect(replaced(link('replaced-by', to('#ben')), link('replaced-by', to('')))).toBeUndefined()
  expect(replaced(link('replaced-by', to('RelatedPerson/a')), link('replaced-by', to('Patient/b')))).toBe('b')
  expect(replaced(link('replaced-by', to('http://elsewhere/Patient/a')))).toBeUndefined()
})
