// The cookie of a portal session, and who may use it to change something.
import { expect, test } from 'vitest'
import { cookieText, mustBeSameOrigin, sessionIn } from '../../src/identity/cookies.ts'
import { Failure } from '../../src/lib/failure.ts'

test.each([
  ['no cookies at all', undefined, undefined],
  ['an empty header', '', undefined],
  ['the cookie alone', 'service_session=abc', 'abc'],
  ['the cookie among others, with spaces around it', 'theme=dark;  service_session = abc ; lang=fr', 'abc'],
  ['a value that holds an equals sign', 'service_session=a=b', 'a=b'],
  ['an empty value', 'service_session=', ''],
  ['another cookie whose name ends like it', 'my_service_session=abc', undefined],
  ['a part without an equals sign', 'service_session', undefined],
  ['a name that only begins like it, without a value', 'service_sessions', undefined],
  ['a part without a name', '=abc', undefined],
  ['the same value twice', 'service_session=abc; service_session=abc', 'abc'],
  ['two values, of which one was planted', 'service_session=abc; service_session=planted', undefined],
])('%s', (_what, cookie, expected) => {
  expect(sessionIn(cookie === undefined ? {} : { cookie })).toBe(expected)
})

test('a browser keeps the cookie from scripts and from other sites, and without TLS only where there is none', () => {
  expect(cookieText('abc', 3600, true)).toBe(
    'service_session=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=3600; Secure',
  )
  expect(cookieText('', 0, false)).toBe('service_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0')
})

const baseUrl = 'https://portal.example/base'
const from = (method: string, headers: Record<string, string>) => () => mustBeSameOrigin({ method, headers, baseUrl })

test.each([
  ['the origin of the service', 'POST', { origin: 'https://portal.example', 'sec-fetch-site': 'same-origin' }],
  ['an address that a person typed', 'DELETE', { 'sec-fetch-site': 'none' }],
  ['a program, which sends neither header', 'POST', {}],
  ['an old browser, which sends the origin alone', 'POST', { origin: 'https://portal.example' }],
  ['a reading from anywhere', 'GET', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a HEAD from anywhere', 'HEAD', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
])('a request from %s passes', (_what, method, headers) => {
  expect(from(method, headers)).not.toThrow()
})

test.each([
  ['a page of another origin', { origin: 'https://evil.example' }],
  ['a page of a neighbouring host', { 'sec-fetch-site': 'same-site' }],
  ['a page of another site', { origin: 'https://portal.example', 'sec-fetch-site': 'cross-site' }],
  ['a page that hides its origin', { origin: 'null' }],
])('%s changes nothing', (_what, headers) => {
  const attempt = from('POST', headers)
  expect(attempt).toThrow(Failure)
  expect(attempt).toThrow(
    expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('https://portal.example') }),
  )
})

test('where the address of the service is no URL, no origin is its own', () => {
  const headers = { origin: 'https://portal.example' }
  expect(() => mustBeSameOrigin({ method: 'POST', headers, baseUrl: 'nowhere' })).toThrow(
    expect.objectContaining({ code: 'FORBIDDEN' }),
  )
})
