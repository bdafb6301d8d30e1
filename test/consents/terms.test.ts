// What a request says of a consent is checked as a whole: against the types that there are, the scopes, and the clock.
import { expect, test } from 'vitest'
import { type Given, termsOf } from '../../src/consents/terms.ts'
import type { ConsentTypes } from '../../src/shapes/consent-types.ts'

const now = new Date('2026-03-14T12:00:00Z')
const types = new Map(['full_record', 'diagnostics_only'].map(name => [name, {}])) as unknown as ConsentTypes['types']
const terms = (given: Given) =>
  termsOf({ now: () => now, consentTypes: () => ({ types }) as unknown as ConsentTypes }, given)

/** What is wrong, as field and code. */
const problems = (given: Given): string[] => {
  try {
    terms(given)
    return []
  } catch (error) {
    const { code, options } = error as { code: string; options: { details: { field: string; code: string }[] } }
    expect(code).toBe('VALIDATION_FAILED')
    return options.details.map(detail => `${detail.field} ${detail.code}`)
  }
}

const messageOf = (given: Given): string => {
  try {
    terms(given)
    return ''
  } catch (error) {
    return (error as { options: { details: { message: string }[] } }).options.details.map(each => each.message).join()
  }
}

test('who says nothing asks for the full record, for the usual time', () => {
  expect(terms({})).toEqual({ consentType: 'full_record', purpose: undefined, scopes: undefined, expiresAt: undefined })
})

test('what is said is taken as it is', () => {
  const given = {
    consent_type: 'diagnostics_only',
    purpose: 'TREAT',
    scopes: ['labs:read'],
    expires_at: '2027-01-01T00:00:00Z',
  }
  expect(terms(given)).toEqual({
    consentType: 'diagnostics_only',
    purpose: 'TREAT',
    scopes: ['labs:read'],
    expiresAt: '2027-01-01T00:00:00Z',
  })
})

test('requested_scopes is another name for scopes: both may be there if they name the same, in any order', () => {
  const both = ['labs:read', 'patients:read']
  expect(terms({ requested_scopes: both }).scopes).toEqual(both)
  expect(terms({ requested_scopes: both, scopes: both.toReversed() }).scopes).toEqual(both)
  expect(problems({ requested_scopes: both, scopes: ['labs:read'] })).toEqual(['scopes different'])
  expect(problems({ requested_scopes: ['labs:read'], scopes: both })).toEqual(['scopes different'])
  expect(problems({ requested_scopes: both, scopes: ['labs:read', 'labs:write'] })).toEqual(['scopes different'])
})

test('a type that does not exist is named with the one that was meant, and all that there are', () => {
  expect(problems({ consent_type: 'ful_record' })).toEqual(['consent_type enum'])
  const message = messageOf({ consent_type: 'ful_record' })
  expect(message).toContain('`full_record`')
  expect(message).toContain('full_record, diagnostics_only')
  expect(messageOf({ consent_type: 'zzzzzz' })).toContain('is not a consent type. There are')
})

test('every scope that does not exist is named by its place, under the name by which scopes were sent', () => {
  expect(problems({ scopes: ['labs:read', 'labs:reed', 'nothing'] })).toEqual(['scopes.1 unknown', 'scopes.2 unknown'])
  expect(problems({ requested_scopes: ['labs:reed'] })).toEqual(['requested_scopes.0 unknown'])
  expect(messageOf({ scopes: ['labs:reed'] })).toContain('labs:read')
})

test('scopes that open nothing for reading are nothing to consent to', () => {
  expect(problems({ scopes: [] })).toEqual(['scopes empty'])
  expect(problems({ requested_scopes: ['health_id:verify'] })).toEqual(['requested_scopes empty'])
})

test('an end lies in the future, and within a hundred years', () => {
  const at = (milliseconds: number) => ({ expires_at: new Date(now.getTime() + milliseconds).toISOString() })
  const century = 100 * 365.25 * 86_400_000
  expect(problems(at(-1))).toEqual(['expires_at past'])
  expect(problems(at(0))).toEqual(['expires_at past'])
  expect(problems(at(1))).toEqual([])
  expect(problems(at(century))).toEqual([])
  expect(problems(at(century + 1))).toEqual(['expires_at far'])
  expect(messageOf(at(0))).toContain('future')
  expect(messageOf(at(century + 1))).toContain('100 years')
})

test('everything that is wrong is named at once', () => {
  const given = { consent_type: 'x', scopes: ['y'], requested_scopes: ['z'], expires_at: '2020-01-01T00:00:00Z' }
  expect(problems(given)).toEqual([
    'consent_type enum',
    'scopes different',
    'requested_scopes.0 unknown',
    'expires_at past',
  ])
})
