// Failures in the words of OAuth, and bodies that are forms.
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { formOrJson, inOAuthWords, membersOf, oauthErrors, oauthFailure } from '../../src/api/auth/oauth.ts'
import { Failure, type FailureCode } from '../../src/lib/failure.ts'

test.each<[FailureCode, string, FailureCode?]>([
  ['INVALID_CLIENT', 'invalid_client'],
  ['UNAUTHENTICATED', 'invalid_client'],
  ['CLOCK_SKEW', 'invalid_client'],
  ['TOKEN_EXPIRED', 'invalid_token'],
  ['TOKEN_INVALID', 'invalid_token'],
  ['AUTH_THROTTLED', 'temporarily_unavailable'],
  ['RATE_LIMITED', 'temporarily_unavailable'],
  ['UNAVAILABLE', 'temporarily_unavailable'],
  ['INTERNAL_ERROR', 'server_error'],
  ['MALFORMED_REQUEST', 'invalid_request'],
  ['VALIDATION_FAILED', 'invalid_request', 'MALFORMED_REQUEST'],
])('%s is %s', (code, error, told = code) => {
  const { code: shown, message, options } = inOAuthWords(new Failure(code, 'Why.', { retryAfter: 7 }))
  expect([shown, message, options]).toEqual([
    told,
    'Why.',
    { retryAfter: 7, extra: { error, error_description: 'Why.' } },
  ])
})

test('what OAuth has a name for goes by that name', () => {
  const { code, options } = inOAuthWords(oauthFailure('invalid_scope', 'No such scope.'))
  expect([code, options.extra]).toEqual([
    'MALFORMED_REQUEST',
    { error: 'invalid_scope', error_description: 'No such scope.' },
  ])
})

test('a description has the characters that OAuth allows', () => {
  const { message, options } = inOAuthWords(new Failure('MALFORMED_REQUEST', 'Say "a\\b", not é.'))
  expect(message).toBe('Say "a\\b", not é.')
  expect(options.extra!['error_description']).toBe("Say 'a b', not  .")
})

test('the members of a form are those that are not empty, each once, as the schema wants them', () => {
  const schema = Type.Object({ grant_type: Type.String(), scope: Type.Optional(Type.String()) })
  expect(membersOf(schema, new URLSearchParams('grant_type=x&scope='))).toEqual({ grant_type: 'x' })
  expect(membersOf(schema, { grant_type: 'x', scope: '' })).toEqual({ grant_type: 'x', scope: '' })
  expect(() => membersOf(schema, new URLSearchParams('grant_type=x&grant_type=y'))).toThrow(
    expect.objectContaining({ code: 'MALFORMED_REQUEST', message: 'grant_type must not be repeated.' }),
  )
  expect(() => membersOf(schema, new URLSearchParams('scope=a'))).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED' }),
  )
})

test('every OAuth route takes forms and JSON, and may refuse in the words of OAuth', () => {
  expect(formOrJson).toEqual(['application/x-www-form-urlencoded', 'application/json'])
  expect(Object.keys(oauthErrors)).toEqual(['400', '401', '413', '415', '429', '503'])
})
