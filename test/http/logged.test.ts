// What the request log takes of a request: whose it was, how large, and what came of it.
import type Koa from 'koa'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { patientCaller, userCaller } from '../../src/access/caller.ts'
import { loggedRequest, namedInLogs } from '../../src/http/logged.ts'

const now = Date.parse('2026-03-14T12:00:00Z')
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }))
afterEach(() => void vi.useRealTimers())

const user = userCaller({ id: 'usr_1', email: 'a@b.example', organizationId: 'hospital-a', roles: ['developer'] }, 's')
const patient = patientCaller('amina', 'CM-TQYE-6SRK-YQ6S', 'token')

interface Given {
  readonly method?: string
  readonly sent?: Record<string, string>
  readonly status?: number
}

const logged = ({ method = 'GET', sent = {}, status = 200 }: Given, known: object = {}) =>
  loggedRequest(
    { method, req: { headers: sent } } as unknown as Koa.Context,
    { requestId: 'request-1', bytesOut: 7, ...known },
    { status, milliseconds: 40, resourceType: undefined },
  )

test('a request that nobody proves, and that no route answers, has neither a client nor a route', () => {
  expect(logged({ status: 404 }, { errorCode: 'NOT_FOUND' })).toEqual({
    ...{
      at: now - 40,
      requestId: 'request-1',
      isMade: true,
      clientId: '',
      organizationId: '',
      method: 'GET',
      route: '',
    },
    ...{ resourceType: '', status: 404, errorCode: 'NOT_FOUND', milliseconds: 40, bytesIn: 0, bytesOut: 7 },
  })
})

test('a user has a name there, a patient has none', () => {
  expect(logged({}, { caller: user })).toMatchObject({
    clientId: 'user/usr_1',
    organizationId: 'hospital-a',
    errorCode: '',
  })
  expect(logged({}, { caller: patient })).toMatchObject({ clientId: 'patient', organizationId: '' })
  expect([namedInLogs(patient), namedInLogs(user), namedInLogs(undefined)]).toEqual([
    'patient',
    'user/usr_1',
    undefined,
  ])
})

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is a method with a name', method => {
  expect(logged({ method }).method).toBe(method)
})

test('a method that no route has is named like all such', () => {
  expect(logged({ method: 'PROPFIND' }).method).toBe('other')
})

test('who left before the reply was refused nothing', () => {
  expect(logged({ status: 499 }, { errorCode: 'UNAVAILABLE' }).errorCode).toBe('')
})

test.each([
  ['a declared length', { sent: { 'content-length': '120', 'transfer-encoding': 'chunked' } }, 120],
  ['chunks, which nobody counts', { sent: { 'transfer-encoding': 'chunked' } }, undefined],
  ['nothing', {}, 0],
])('what came with %s', (_, given, bytes) => {
  expect(logged(given).bytesIn).toBe(bytes)
})

test('the route is its pattern', () => {
  const found = { route: { path: '/a/{id}' }, params: { id: 'amina' } }
  expect(logged({}, { found }).route).toBe('/a/{id}')
})
