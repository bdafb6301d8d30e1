// What a token proves, and which ones prove nothing; introspection (RFC 7662) and revocation (RFC 7009).
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, exportJWK, exportSPKI, type JWTPayload, SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { revokeClient } from '../../src/identity/clients.ts'
import { eventually, newClient, type Process, post, signIn, startProcess, useToken } from '../support/identity.ts'

let service: Process
let client: { id: string; secret: string }
let token: string

beforeAll(async () => {
  service = await startProcess()
  client = await newClient(service)
  token = (await signIn(service, client.id, client.secret)).body.access_token
})

const introspect = (of: string, by: object = { client_id: client.id, client_secret: client.secret }) =>
  post(service, '/api/v1/connect/auth/introspect', { token: of, ...by })
const revoke = (of: string, by = client) =>
  post(service, '/api/v1/connect/auth/revoke', { token: of, client_id: by.id, client_secret: by.secret })
const fresh = async () => (await signIn(service, client.id, client.secret)).body.access_token as string

/** A token as the service itself would sign it, but for what the test changes. */
function signed(change: JWTPayload = {}, header: { typ?: string; kid?: string; cty?: string } = {}): Promise<string> {
  const { kid, privateKey } = service.identity.keys.active()
  return new SignJWT({ ...decodeJwt(token), ...change })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid, ...header })
    .sign(privateKey)
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function publicKeyPem(): Promise<string> {
  return exportSPKI(createPublicKey(service.identity.keys.active().privateKey))
}

test('the SDK operation says what the token allows, and until when, which is no access that the trail holds', async () => {
  const answer = await useToken(service, token)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    active: true,
    scopes: ['patients:read', 'labs:read', 'system/Observation.rs'],
    client_id: client.id,
    expires_at: new Date(decodeJwt(token).exp! * 1000).toISOString(),
  })
  const told = await service.database.query({
    text: `select query from audit_event where query like '%sdk/token/introspect%'`,
    values: [],
  })
  expect(told).toEqual([])
})

test.each([
  ['no header', undefined],
  ['another scheme', { authorization: 'Basic eDp5' }],
])('%s is UNAUTHENTICATED with a bare challenge', async (_what, headers) => {
  const response = await fetch(`${service.url}/api/v1/sdk/token/introspect`, { headers })
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="health-interop"')
  expect(await response.json()).toMatchObject({ status: 'error', error_code: 'UNAUTHENTICATED' })
})

test('the untouched copy that the forgeries below start from is accepted', async () => {
  expect((await useToken(service, await signed())).status).toBe(200)
})

test.each([
  ['another audience', () => signed({ aud: 'https://elsewhere.example.org' }), 'its claim aud is missing or wrong'],
  ['another issuer', () => signed({ iss: 'https://elsewhere.example.org' }), 'its claim iss is missing or wrong'],
  ['no expiry', () => signed({ exp: undefined }), 'its claim exp is missing or wrong'],
  ['no jti', () => signed({ jti: undefined }), 'its claim jti is missing or wrong'],
  ['no organisation', () => signed({ organization_id: undefined }), 'its claim organization_id is missing or wrong'],
  ['the type of an id token', () => signed({}, { typ: 'JWT' }), 'its claim typ is missing or wrong'],
  ['an unknown key', () => signed({}, { kid: 'unknown' }), 'it was signed with an unknown key'],
  ['no key id', () => signed({}, { kid: undefined }), 'it was signed with an unknown key'],
  [
    'changed claims',
    async () => {
      const [head, , signature] = token.split('.')
      return `${head}.${part({ ...decodeJwt(token), scope: 'system/*.cruds' })}.${signature}`
    },
    'its signature is wrong',
  ],
  [
    'a changed signature',
    async () => token.slice(0, -6) + (token.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA'),
    'its signature is wrong',
  ],
  [
    'alg none',
    async () => `${part({ alg: 'none', typ: 'at+jwt' })}.${part(decodeJwt(token))}.`,
    'it is not signed with RS256',
  ],
  [
    'HS256 under our public key',
    async () => {
      const kid = service.identity.keys.active().kid
      const text = `${part({ alg: 'HS256', typ: 'at+jwt', kid })}.${part(decodeJwt(token))}`
      return `${text}.${createHmac('sha256', await publicKeyPem())
        .update(text)
        .digest('base64url')}`
    },
    'it is not signed with RS256',
  ],
  [
    'a key of its own in the header',
    async () => {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const jwk = await exportJWK(publicKey)
      return new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', jwk }).sign(privateKey)
    },
    'it was signed with an unknown key',
  ],
  ['no dots', async () => 'no-dots', 'it was not issued by this service'],
  ['the form of a patient’s token', async () => 'pat_1234567890', 'not a patient token'],
  ['nothing after Bearer', async () => ' ', ''],
] as [string, () => Promise<string>, string][])('a token with %s is TOKEN_INVALID', async (_what, forge, words) => {
  const forged = await forge()
  const answer = await useToken(service, forged)
  expect(answer.status).toBe(401)
  expect(['TOKEN_INVALID', 'UNAUTHENTICATED']).toContain(answer.body.error_code)
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="health-interop"/)
  if (forged.trim()) {
    expect([answer.body.error_code, answer.body.message]).toEqual(['TOKEN_INVALID', expect.stringContaining(words)])
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect((await introspect(forged)).body).toEqual({ active: false })
  }
})

test('an expired token is TOKEN_EXPIRED, remembered or not, and inactive', async () => {
  const late = await startProcess({ beside: service })
  const seen = await fresh()
  const unseen = await fresh()
  expect((await useToken(late, seen)).status).toBe(200)
  const { exp } = decodeJwt(seen)
  late.advance(exp! - 1 - Math.floor(late.now() / 1000))
  expect((await useToken(late, seen)).status).toBe(200)
  // To the millisecond: the second in which a token expires is no longer its own.
  late.advance(exp! - late.now() / 1000)
  for (const each of [seen, unseen]) {
    const answer = await useToken(late, each)
    expect([answer.status, answer.body.error_code]).toEqual([401, 'TOKEN_EXPIRED'])
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  }
})

test('introspection gives exactly the members of the interface', async () => {
  const { status, body, headers } = await introspect(token)
  const { iss, aud, sub, exp, iat, jti } = decodeJwt(token)
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toEqual({
    active: true,
    token_type: 'Bearer',
    scope: 'patients:read labs:read system/Observation.rs',
    client_id: client.id,
    sub,
    aud,
    iss,
    exp,
    iat,
    jti,
  })
})

test('a token is introspected for a bearer and for other clients of its organisation, and is inactive to everybody else', async () => {
  const colleague = await newClient(service)
  const stranger = await newClient(service, { organizationId: 'hospital-b' })
  const path = '/api/v1/connect/auth/introspect'
  const byBearer = await post(service, path, new URLSearchParams({ token }), {
    authorization: `Bearer ${await fresh()}`,
  })
  expect(byBearer.body.active).toBe(true)
  expect((await introspect(token, { client_id: colleague.id, client_secret: colleague.secret })).body.active).toBe(true)
  expect((await introspect(token, { client_id: stranger.id, client_secret: stranger.secret })).body).toEqual({
    active: false,
  })
})

test.each(['introspect', 'revoke'])('%s needs credentials, and a token', async operation => {
  const path = `/api/v1/connect/auth/${operation}`
  const open = await post(service, path, { token })
  expect([open.status, open.body.error]).toEqual([401, 'invalid_client'])
  const empty = await post(service, path, { client_id: client.id, client_secret: client.secret })
  expect([empty.status, empty.body.error]).toEqual([400, 'invalid_request'])
})

test('a revoked token stops at once here and in every other process, also where it is remembered', async () => {
  const other = await startProcess({ beside: service })
  const [ended, kept] = [await fresh(), await fresh()]
  for (const each of [service, other]) expect((await useToken(each, ended)).status).toBe(200)
  const answer = await revoke(ended)
  expect([answer.status, answer.body]).toEqual([200, {}])
  const here = await useToken(service, ended)
  expect([here.status, here.body.error_code]).toEqual([401, 'TOKEN_INVALID'])
  await eventually(async () => (await useToken(other, ended)).status === 401)
  expect((await introspect(ended)).body).toEqual({ active: false })
  for (const each of [service, other]) expect((await useToken(each, kept)).status).toBe(200)
})

test('a process that starts later knows what was revoked before', async () => {
  const ended = await fresh()
  await revoke(ended)
  const closed = await newClient(service)
  const [inTime] = [(await signIn(service, closed.id, closed.secret)).body.access_token as string]
  await revokeClient(service.database, closed.id)
  // As long ago as a token can be that still lives, and then some, for clocks that differ.
  for (const table of ['revoked_token', 'client'])
    await service.database.query({
      text: `update ${table} set revoked_at = revoked_at - interval '3630 seconds' where revoked_at is not null`,
      values: [],
    })
  const later = await startProcess({ beside: service })
  for (const each of [ended, inTime]) expect((await useToken(later, each)).status).toBe(401)
  expect((await useToken(later, await fresh())).status).toBe(200)
})

test('a token is a token up to 16 KiB', async () => {
  /** One of that length: the header makes up for lengths that no claims give. */
  const sized = async (length: number): Promise<string> => {
    for (let more = 0; ; more++) {
      const size = async (padding: number) => signed({ padding: 'x'.repeat(padding) }, { cty: 'y'.repeat(more) })
      const short = length - (await size(0)).length
      for (const padding of [-2, -1, 0, 1].map(each => Math.floor((short * 3) / 4) + each)) {
        const text = await size(padding)
        if (text.length === length) return text
      }
    }
  }
  expect((await introspect(await sized(16_384))).body.active).toBe(true)
  expect((await introspect(await sized(16_385))).body).toEqual({ active: false })
})

test('a process whose channel breaks catches up when it is back', async () => {
  const other = await startProcess({ beside: service })
  const ended = await fresh()
  expect((await useToken(other, ended)).status).toBe(200)
  await service.database.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`,
    values: [],
  })
  await revoke(ended)
  await eventually(async () => (await useToken(other, ended)).status === 401)
  const next = await fresh()
  await revoke(next)
  await eventually(async () => (await useToken(other, next)).status === 401)
})

test('while it cannot be known what is revoked, tokens are neither good nor inactive: 503', async () => {
  let ahead = 0
  const deaf = await startProcess({ beside: service, elapsed: () => performance.now() + ahead })
  const rename = (from: string, to: string) =>
    service.database.query({ text: `alter table ${from} rename to ${to}`, values: [] })
  const asked = { token: await fresh(), client_id: client.id, client_secret: client.secret }
  await rename('revoked_token', 'revoked_token_away')
  ahead = 60_000
  const answers = [
    await useToken(deaf, asked.token),
    await post(deaf, '/api/v1/connect/auth/introspect', asked),
    await post(deaf, '/api/v1/connect/auth/revoke', asked),
  ]
  await rename('revoked_token_away', 'revoked_token')
  expect(answers.map(({ status, body }) => [status, body.error_code])).toEqual(Array(3).fill([503, 'UNAVAILABLE']))
  expect((await useToken(service, asked.token)).status).toBe(200)
})

test('revoking what is no valid token is a success too (RFC 7009 §2.2), but another client’s token is refused', async () => {
  expect((await revoke('nonsense')).status).toBe(200)
  const colleague = await newClient(service)
  const answer = await revoke(token, colleague)
  expect([answer.status, answer.body.error]).toEqual([400, 'unauthorized_client'])
  expect((await useToken(service, token)).status).toBe(200)
})
