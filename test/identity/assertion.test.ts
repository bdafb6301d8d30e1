// private_key_jwt: signed assertions instead of secrets (RFC 7523, SMART Backend Services).
import { randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { revokeClient, setKeys } from '../../src/identity/clients.ts'
import { newClient, type Process, post, startProcess, tokenPath, useToken } from '../support/identity.ts'

let service: Process
let id: string
const keys: Record<string, CryptoKey> = {}

beforeAll(async () => {
  service = await startProcess()
  const published = []
  for (const alg of ['RS384', 'ES384', 'RS256']) {
    const pair = await generateKeyPair(alg, { extractable: true })
    keys[alg] = pair.privateKey
    published.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg })
  }
  id = (await newClient(service, { jwks: { keys: published }, secret: null })).id
})

function assertion(alg = 'RS384', change: JWTPayload = {}, header: object = {}, key = keys[alg]!): Promise<string> {
  const now = Math.floor(service.now() / 1000)
  return new SignJWT({ iss: id, sub: id, aud: service.url + tokenPath, exp: now + 300, jti: randomUUID(), ...change })
    .setProtectedHeader({ alg, kid: alg, typ: 'JWT', ...header })
    .sign(key)
}

const send = async (text: string, more: Record<string, string> = {}, to = service) =>
  post(
    to,
    tokenPath,
    new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'system/Observation.rs',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: text,
      ...more,
    }),
  )

test.each(['RS384', 'ES384', 'RS256'])('an assertion signed with %s gives a token', async alg => {
  const { status, body } = await send(await assertion(alg))
  expect([status, body.scope]).toEqual([200, 'system/Observation.rs'])
  expect((await useToken(service, body.access_token)).body.client_id).toBe(id)
})

test('the audience may be the issuer, among others; the key id may be left out', async () => {
  expect((await send(await assertion('RS384', { aud: service.url }))).status).toBe(200)
  expect((await send(await assertion('RS384', { aud: ['https://other.example.org', service.url] }))).status).toBe(200)
  expect((await send(await assertion('RS384', {}, { kid: undefined }))).status).toBe(200)
})

test('of several keys that could have signed an assertion without a key id, each is tried', async () => {
  const pairs = await Promise.all([1, 2].map(() => generateKeyPair('ES384', { extractable: true })))
  const published = await Promise.all(
    pairs.map(async ({ publicKey }, at) => ({ ...(await exportJWK(publicKey)), kid: `${at}` })),
  )
  const several = await newClient(service, { jwks: { keys: published }, secret: null })
  const signed = (key: CryptoKey, change: JWTPayload = {}) =>
    assertion('ES384', { iss: several.id, sub: several.id, ...change }, { kid: undefined }, key).then(send)
  for (const { privateKey } of pairs) expect((await signed(privateKey)).status).toBe(200)
  const stranger = await signed((await generateKeyPair('ES384')).privateKey)
  expect([stranger.status, stranger.body.error_description]).toEqual([
    401,
    expect.stringContaining('credentials are invalid'),
  ])
  const late = await signed(pairs[1]!.privateKey, { exp: inSeconds(-60) })
  expect([late.status, late.body.error_description]).toEqual([401, expect.stringContaining('expired')])
})

test('an assertion works once', async () => {
  const text = await assertion()
  expect((await send(text)).status).toBe(200)
  const again = await send(text)
  expect([again.status, again.body.error]).toEqual([401, 'invalid_client'])
  expect(again.body.error_description).toContain('used before')
})

const sentTo = async (to: Process, jti: string, seconds: number) =>
  (
    await post(to, tokenPath, {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertion('RS384', { jti, exp: Math.floor(to.now() / 1000) + seconds }),
    })
  ).status

// Clocks may differ by ten seconds: what is over for its client is still remembered.
test.each([5, -5])('an assertion that has %i seconds left works once, too', async left => {
  const [other, jti] = [await startProcess({ beside: service }), randomUUID()]
  expect(await sentTo(other, jti, left)).toBe(200)
  expect(await sentTo(other, jti, left)).toBe(401)
})

test('a jti counts again when its assertion could no longer be sent', async () => {
  const [later, jti] = [await startProcess({ beside: service }), randomUUID()]
  expect(await sentTo(later, jti, 30)).toBe(200)
  later.advance(60)
  expect(await sentTo(later, jti, 120)).toBe(200)
  expect(await sentTo(later, jti, 130)).toBe(401)
})

test('of many copies sent at once, one works', async () => {
  const text = await assertion()
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(text)))
  expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
})

const inSeconds = (seconds: number) => Math.floor(service.now() / 1000) + seconds

test.each([
  ['another audience', () => assertion('RS384', { aud: 'https://elsewhere.example.org' })],
  ['a life of six minutes', () => assertion('RS384', { exp: inSeconds(360) })],
  ['a life that is over', () => assertion('RS384', { exp: inSeconds(-60) })],
  ['no expiry', () => assertion('RS384', { exp: undefined })],
  ['no jti', () => assertion('RS384', { jti: undefined })],
  ['an empty jti', () => assertion('RS384', { jti: '' })],
  ['a jti that is too long', () => assertion('RS384', { jti: 'x'.repeat(256) })],
  ['a jti with a zero byte', () => assertion('RS384', { jti: 'a\u0000b' })],
  ['a jti that is a number', () => assertion('RS384', { jti: 7 as never })],
  ['another subject', () => assertion('RS384', { sub: 'someone' })],
  ['an unknown issuer', () => assertion('RS384', { iss: 'someone', sub: 'someone' })],
  ['a key that is not registered', async () => assertion('RS384', {}, {}, (await generateKeyPair('RS384')).privateKey)],
  [
    'an algorithm that is not taken',
    async () => assertion('ES256', {}, {}, (await generateKeyPair('ES256')).privateKey),
  ],
  [
    'no key to check it with',
    async () => {
      const { id: keyless } = await newClient(service)
      return assertion('RS384', { iss: keyless, sub: keyless })
    },
  ],
  ['no form of a JWT', async () => 'nonsense'],
] as [string, () => Promise<string>][])('an assertion with %s is invalid_client', async (_what, make) => {
  const late = await startProcess({ beside: service })
  const text = await make()
  const answer = await post(late, tokenPath, {
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: text,
  })
  expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client'])
})

test.each([
  ['is not valid yet', () => ({ nbf: inSeconds(120) }), 'CLOCK_SKEW', 'is not valid yet'],
  ['begins at no time', () => ({ nbf: 'tomorrow' }), 'INVALID_CLIENT', 'has the wrong nbf'],
  ['was issued at no time', () => ({ iat: 'today' }), 'INVALID_CLIENT', 'has the wrong iat'],
  ['is for somebody else', () => ({ aud: 'https://elsewhere.example.org' }), 'INVALID_CLIENT', 'has the wrong aud'],
  ['has no issuer', () => ({ iss: undefined }), 'INVALID_CLIENT', 'is not a JWT with an iss'],
  ['has an issuer that is no text', () => ({ iss: 7 }), 'INVALID_CLIENT', 'is not a JWT with an iss'],
])('an assertion that %s is told what is wrong with it', async (_what, change, code, words) => {
  const other = await startProcess({ beside: service })
  const { status, body } = await send(await assertion('RS384', change() as never), {}, other)
  expect([status, body.error, body.error_code]).toEqual([401, 'invalid_client', code])
  expect(body.error_description).toContain(`client_assertion ${words}`)
})

test('an assertion that is not proved is told that it is not valid, whatever is wrong with the key', async () => {
  const other = await startProcess({ beside: service })
  const unknown = (await generateKeyPair('RS384')).privateKey
  const { privateKey, publicKey } = await generateKeyPair('ES384')
  const { id: broken } = await newClient(service, { jwks: { keys: [await exportJWK(publicKey)] }, secret: null })
  // What a key set held before such keys were refused.
  await service.database.query({
    text: `update client set jwks = jsonb_set(jwks, '{keys,0,x}', '"x"') where id = $1`,
    values: [broken],
  })
  for (const text of [
    await assertion('RS384', {}, {}, unknown),
    await assertion('ES384', { iss: broken, sub: broken }, {}, privateKey),
  ]) {
    const { status, body } = await send(text, {}, other)
    expect([status, body.error_code]).toEqual([401, 'INVALID_CLIENT'])
    expect(body.error_description).toContain('its credentials are invalid')
  }
})

test('client_id, if sent, must be the one that signed', async () => {
  expect((await send(await assertion(), { client_id: id })).status).toBe(200)
  expect((await send(await assertion(), { client_id: 'someone' })).status).toBe(401)
})

test('another client_assertion_type, or a secret beside the assertion, is invalid_request', async () => {
  expect((await send(await assertion(), { client_assertion_type: 'x' })).status).toBe(400)
  expect((await send(await assertion(), { client_id: id, client_secret: 'x' })).status).toBe(400)
})

test('bad assertions are throttled, and a good one passes all the same', async () => {
  const statuses = []
  for (let times = 0; times < 12; times++) statuses.push((await send(await assertion('RS384', { aud: 'x' }))).status)
  expect(statuses.at(-1)).toBe(429)
  expect((await send(await assertion())).status).toBe(200)
})

test('what is not the fault of a client is not counted against it', async () => {
  const other = await startProcess({ beside: service })
  const run = (text: string) => service.database.query({ text, values: [] })
  await run(
    `create function away() returns trigger language plpgsql as $$ begin raise 'away' using errcode = '57P03'; end $$`,
  )
  await run('create trigger away before insert on used_assertion execute function away()')
  const statuses = []
  for (let times = 0; times < 12; times++) statuses.push(await sentTo(other, randomUUID(), 60))
  await run('drop function away cascade')
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(await sentTo(other, randomUUID(), 60)).toBe(200)
})

test('a revoked client cannot sign in', async () => {
  await revokeClient(service.database, id)
  service = await startProcess({ beside: service })
  expect((await send(await assertion('RS384', { aud: service.identity.issuer }))).status).toBe(401)
})

test('only public keys that are strong enough can be registered', async () => {
  const { privateKey } = await generateKeyPair('RS384', { extractable: true })
  const register = (key: object) => newClient(service, { jwks: { keys: [key as never] } })
  await expect(register(await exportJWK(privateKey))).rejects.toThrow(/^Key 1 is a private key/)
  await expect(register({ kty: 'oct', k: 'AAAA', kid: 'mine' })).rejects.toThrow(/^Key mine is a private key/)
  await expect(register({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' })).rejects.toThrow(/P-384/)
  await expect(register({ kty: 'RSA', n: 'AQAB', e: 'AQAB' })).rejects.toThrow(/has \d+ bits/)
  await expect(register({ kty: 'RSA' })).rejects.toThrow(/cannot be read/)
  await expect(register({ kty: 'EC', crv: 'P-384', x: 'x', y: 'y' })).rejects.toThrow(/cannot be read/)
  await expect(register(null as never)).rejects.toThrow(/^Key 1 is not an object/)
  await expect(register({ kty: 'OKP', crv: 'Ed25519', x: 'x' })).rejects.toThrow(/RSA or EC/)
  for (const jwks of [{ keys: [] }, { keys: 'x' }, {}, [], 'keys'])
    await expect(newClient(service, { jwks: jwks as never })).rejects.toThrow(/no keys/)
})

test('keys are given to a client that is there, and public ones only', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES384', { extractable: true })
  const keysOf = async (key: CryptoKey) => ({ jwks: { keys: [await exportJWK(key)] }, jwksUrl: undefined })
  const { id: own } = await newClient(service)
  await expect(setKeys(service.database, own, await keysOf(privateKey))).rejects.toThrow(/private/)
  expect(await setKeys(service.database, own, await keysOf(publicKey))).toMatchObject({ id: own })
  await expect(setKeys(service.database, 'nobody', await keysOf(publicKey))).rejects.toThrow(/no active client nobody/)
  await revokeClient(service.database, own)
  await expect(setKeys(service.database, own, await keysOf(publicKey))).rejects.toThrow(/no active client/)
  await expect(newClient(service, { id: 'patient/ada' })).rejects.toThrow(/slash/)
})
