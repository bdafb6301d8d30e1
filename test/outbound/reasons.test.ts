// Why a delivery has failed, in words, and when a connection ended that may have been good before.
import { expect, test } from 'vitest'
import { answered, isClosing, noAnswer, reasonOf, redirected } from '../../src/outbound/reasons.ts'

const coded = (code: string, message = '') => Object.assign(new Error(message), { code })

test.each([
  ['ERR_ADDRESS_PRIVATE', 'the address is private'],
  ['ERR_PLAIN_HTTP', 'the URL must use https'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['EAI_AGAIN', 'the host name could not be looked up'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was reset'],
  ['EPIPE', 'the connection was reset'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the host cannot be reached'],
  ['ETIMEDOUT', 'no response within 10 seconds'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no response within 10 seconds'],
  ['UND_ERR_SOCKET', 'the connection was closed without a response'],
  ['CERT_HAS_EXPIRED', 'the certificate is invalid: it has expired'],
  ['CERT_NOT_YET_VALID', 'the certificate is invalid: it is not yet valid'],
  ['CERT_REVOKED', 'the certificate is invalid: it was revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is invalid: it is for another host'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the certificate is invalid: its issuer is not trusted'],
  ['UNABLE_TO_GET_ISSUER', 'the certificate is invalid: its issuer is not trusted'],
  ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', 'the certificate is invalid: its issuer is not trusted'],
  ['CRL_NOT_YET_VALID', 'the certificate is invalid: its issuer is not trusted'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the TLS handshake failed'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'the TLS handshake failed'],
  ['EPROTO', 'the TLS handshake failed'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the response headers are too long'],
  ['ERR_INVALID_URL', 'the URL is invalid'],
  ['UND_ERR_INVALID_ARG', 'the request could not be written'],
  ['UND_ERR_CLOSED', 'the service was shutting down'],
  ['UND_ERR_DESTROYED', 'the service was shutting down'],
  ['EMFILE', 'the connection failed (EMFILE)'],
])('%s: %s', (code, words) => expect(reasonOf(coded(code), 10_000)).toBe(words))

test('an answer that is no HTTP is told, whoever notices it', () => {
  expect(reasonOf(coded('UND_ERR_SOCKET', 'bad upgrade'), 1)).toBe('the response is not HTTP')
  const error = Object.assign(coded('HPE_INVALID_CONSTANT'), { name: 'HTTPParserError' })
  expect(reasonOf(error, 1)).toBe('the response is not HTTP')
})

test('an error without a code is told as unknown', () => {
  expect(reasonOf(new Error('bad luck'), 1)).toBe('the connection failed (unknown error)')
})

test('what was answered is told by its status, and redirects for themselves', () => {
  expect([answered(500), redirected, noAnswer(1500)]).toEqual([
    'responded with 500',
    'redirects are not followed',
    'no response within 1.5 seconds',
  ])
})

test('only a connection that was there can have been closed', () => {
  const closing = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ETIMEDOUT'].filter(code =>
    isClosing(coded(code)),
  )
  expect(closing).toEqual(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
  expect(isClosing(new Error('no code'))).toBe(false)
})
