// POST /api/v1/connect/auth/token: interface §2.4, §2.5; RFC 6749 §4.4, §5.2.
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { newClient, type Process, post, signIn, startProcess, tokenPath, useToken } from '../support/identity.ts'

let service: Process
let client: { id: string; secret: string }

beforeAll(async () => {
  service = await startProcess()
  client = await newClient(service, {
    scopes: ['patients:read', 'labs:read', 'patients:profile:read', 'system/Observation.rs'],
  })
})

const grant = { grant_type: 'client_credentials' }
const encoded = (text: string) => Buffer.from(text).toString('base64')

test('the request of the interface gives a bearer token for an hour with all scopes of the client', async () => {
  const { status, body, headers } = await signIn(service, client.id, client.secret)
  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in', 'scope'])
  expect(body).toMatchObject({
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'patients:read labs:read patient:profile:read system/Observation.rs',
  })
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
})

test('the token is an RS256 JWT as RFC 9068 wants it, with organisation and environment', async () => {
  const { body } = await signIn(service, client.id, client.secret)
  const claims = decodeJwt(body.access_token)
  expect(decodeProtectedHeader(body.access_token)).toEqual({
    alg: 'RS256',
    typ: 'at+jwt',
    kid: service.identity.keys.active().kid,
  })
  expect(claims).toEqual({
    iss: service.url,
    aud: service.url,
    sub: client.id,
    client_id: client.id,
    iat: expect.any(Number),
    exp: claims.iat! + 3600,
    jti: expect.stringMatching(/^[A-Za-z0-9]{22}$/),
    scope: body.scope,
    organization_id: 'hospital-a',
    env: 'local',
  })
})

test.each([
  ['a form', () => [new URLSearchParams({ ...grant, client_id: client.id, client_secret: client.secret }), {}]],
  [
    'HTTP Basic',
    () => [new URLSearchParams(grant), { authorization: `Basic ${encoded(`${client.id}:${client.secret}`)}` }],
  ],
  [
    'HTTP Basic in another case, with a JSON body',
    () => [grant, { authorization: `basic ${encoded(`${client.id}:${client.secret}`)}` }],
  ],
  [
    'HTTP Basic with form-encoded parts',
    () => [
      new URLSearchParams(grant),
      { authorization: `Basic ${encoded(`${client.id.replace('_', '%5F')}:${client.secret.replaceAll('_', '%5F')}`)}` },
    ],
  ],
  [
    'HTTP Basic and the same client_id in the body',
    () => [
      new URLSearchParams({ ...grant, client_id: client.id }),
      { authorization: `Basic ${encoded(`${client.id}:${client.secret}`)}` },
    ],
  ],
  ['X-Client-ID and X-Client-Secret', () => [grant, { 'x-client-id': client.id, 'x-client-secret': client.secret }]],
] as [string, () => [object, Record<string, string>]][])('the credentials may come as %s', async (_way, request) => {
  const [body, headers] = request()
  const answer = await post(service, tokenPath, body, headers)
  expect(answer.status).toBe(200)
  expect((await useToken(service, answer.body.access_token)).body.client_id).toBe(client.id)
})

test.each([
  ['labs:read', 'labs:read'],
  ['labs:read patients:read labs:read', 'labs:read patients:read'],
  ['patients:profile:read', 'patient:profile:read'],
  ['system/Observation.r', 'system/Observation.r'],
  ['', 'patients:read labs:read patient:profile:read system/Observation.rs'],
])('scope "%s" narrows the token to "%s"', async (scope, granted) => {
  const { status, body } = await signIn(service, client.id, client.secret, { scope })
  expect([status, body.scope]).toEqual([200, granted])
  expect(decodeJwt(body.access_token)['scope']).toBe(granted)
})

test.each([
  ['labs:write', 'labs:write'],
  ['labs:read system/Observation.cruds', 'system/Observation.cruds'],
  ['system/*.rs', 'system/*.rs'],
  ['openid', 'openid'],
  ['constructor', 'constructor'],
  ['labs:read __proto__', '__proto__'],
])('scope "%s" is more than the client has: invalid_scope names %s', async (scope, named) => {
  const { status, body } = await signIn(service, client.id, client.secret, { scope })
  expect(status).toBe(400)
  expect(body).toMatchObject({ status: 'error', error: 'invalid_scope', error_code: 'MALFORMED_REQUEST' })
  expect(body.error_description).toContain(named)
})

test.each([
  ['no grant_type', {}, 'invalid_request'],
  ['an empty grant_type', { grant_type: '' }, 'invalid_request'],
  ['another grant_type', { grant_type: 'password' }, 'unsupported_grant_type'],
])('%s is %s', async (_what, members, error) => {
  const form = new URLSearchParams({
    ...(members as Record<string, string>),
    client_id: client.id,
    client_secret: client.secret,
  })
  const { status, body, headers } = await post(service, tokenPath, form)
  expect([status, body.error]).toEqual([400, error])
  expect(body).toMatchObject({
    status: 'error',
    message: expect.any(String),
    error_description: expect.any(String),
    request_id: expect.any(String),
  })
  expect(headers.get('cache-control')).toBe('no-store')
})

test('a request without grant_type says which member is missing', async () => {
  const { status, body } = await post(service, tokenPath, { client_id: client.id, client_secret: client.secret })
  expect([status, body.error]).toEqual([400, 'invalid_request'])
  expect(body.details).toEqual([{ field: 'grant_type', code: 'required', message: 'is required' }])
})

test.each([
  ['a wrong secret', () => ({ ...grant, client_id: client.id, client_secret: 'sk_test_wrong' })],
  ['an unknown client', () => ({ ...grant, client_id: 'nobody', client_secret: client.secret })],
  ['an id with a zero byte', () => ({ ...grant, client_id: 'a\u0000b', client_secret: 'x' })],
  ['no secret', () => ({ ...grant, client_id: client.id })],
  ['nothing at all', () => ({})],
] as [string, () => object][])('%s is invalid_client: 401 with a challenge', async (_what, body) => {
  const answer = await post(service, tokenPath, body())
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/)
  expect(answer.body).toMatchObject({ status: 'error', error_code: 'INVALID_CLIENT', error: 'invalid_client' })
})

test.each([
  [
    'two ways at once',
    () => [
      { ...grant, client_id: client.id, client_secret: client.secret },
      { 'x-client-id': client.id, 'x-client-secret': client.secret },
    ],
  ],
  [
    'two different clients',
    () => [
      { ...grant, client_id: 'other' },
      { 'x-client-id': client.id, 'x-client-secret': client.secret },
    ],
  ],
  ['a secret that is a number', () => [{ ...grant, client_id: client.id, client_secret: 42 }, {}]],
  [
    'a member twice',
    () => [
      new URLSearchParams(
        `grant_type=client_credentials&grant_type=x&client_id=${client.id}&client_secret=${client.secret}`,
      ),
      {},
    ],
  ],
  ['an array', () => [[], { 'x-client-id': client.id, 'x-client-secret': client.secret }]],
  ['broken JSON', () => ['{"grant_type"', { 'content-type': 'application/json' }]],
  ['no body', () => ['', { 'content-type': 'application/json' }]],
] as [string, () => [object | string, Record<string, string>]][])('%s is invalid_request', async (_what, request) => {
  const [body, headers] = request()
  const answer = await post(service, tokenPath, body, headers)
  expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
})

test('a bearer token does not buy another one', async () => {
  const { body } = await signIn(service, client.id, client.secret)
  const answer = await post(service, tokenPath, grant, { authorization: `Bearer ${body.access_token}` })
  expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client'])
})

test('a body larger than 64 KiB is not read', async () => {
  const answer = await post(service, tokenPath, { ...grant, padding: 'x'.repeat(70_000) })
  expect([answer.status, answer.body.error_code, answer.body.error]).toEqual([
    413,
    'PAYLOAD_TOO_LARGE',
    'invalid_request',
  ])
})

test('another media type is 415', async () => {
  const answer = await post(service, tokenPath, '<xml/>', { 'content-type': 'text/xml' })
  expect([answer.status, answer.body.error]).toEqual([415, 'invalid_request'])
})
