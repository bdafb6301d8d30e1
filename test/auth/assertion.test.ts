// private_key_jwt: signed assertions instead of secrets (RFC 7523, SMART Backend Services).
import { randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { revokeClient, setKeys } from '../../src/auth/clients.ts'
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
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ iss: id, sub: id, aud: service.url + tokenPath, exp: now + 300, jti: randomUUID(), ...change })
    .setProtectedHeader({ alg, kid: alg, typ: 'JWT', ...header })
    .sign(key)
}

const send = async (text: string, more: Record<string, string> = {}) =>
  post(
    service,
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
  expect([stranger.status, stranger.body.error_description]).toEqual([401, expect.stringContaining('not valid')])
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

test('of many copies sent at once, one works', async () => {
  const text = await assertion()
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(text)))
  expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
})

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

test.each([
  ['another audience', () => assertion('RS384', { aud: 'https://elsewhere.example.org' })],
  ['a life of six minutes', () => assertion('RS384', { exp: inSeconds(360) })],
  ['a life that is over', () => assertion('RS384', { exp: inSeconds(-60) })],
  ['no expiry', () => assertion('RS384', { exp: undefined })],
  ['no jti', () => assertion('RS384', { jti: undefined })],
  ['another subject', () => assertion('RS384', { sub: 'someone' })],
  ['an unknown issuer', () => assertion('RS384', { iss: 'someone', sub: 'someone' })],
  ['a key that is not registered', async () => assertion('RS384', {}, {}, (await generateKeyPair('RS384')).privateKey)],
  [
    'an algorithm that is not taken',
    async () => assertion('ES256', {}, {}, (await generateKeyPair('ES256')).privateKey),
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

test('an assertion that is not valid yet is CLOCK_SKEW', async () => {
  const { status, body } = await send(await assertion('RS384', { nbf: inSeconds(120) }))
  expect([status, body.error_code, body.error]).toEqual([401, 'CLOCK_SKEW', 'invalid_client'])
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

test('a revoked client cannot sign in', async () => {
  await revokeClient(service.database, id)
  service = await startProcess({ beside: service })
  expect((await send(await assertion('RS384', { aud: service.identity.issuer }))).status).toBe(401)
})

test('only public keys that are strong enough can be registered', async () => {
  const { privateKey } = await generateKeyPair('RS384', { extractable: true })
  const register = (key: object) => newClient(service, { jwks: { keys: [key as never] } })
  await expect(register(await exportJWK(privateKey))).rejects.toThrow(/private/)
  await expect(register({ kty: 'oct', k: 'AAAA' })).rejects.toThrow(/private/)
  await expect(register({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' })).rejects.toThrow(/P-384/)
  await expect(register({ kty: 'RSA', n: 'AQAB', e: 'AQAB' })).rejects.toThrow(/has \d+ bits/)
  await expect(register({ kty: 'RSA' })).rejects.toThrow(/cannot be read/)
  await expect(register({ kty: 'OKP', crv: 'Ed25519', x: 'x' })).rejects.toThrow(/RSA or EC/)
  await expect(newClient(service, { jwks: { keys: [] } })).rejects.toThrow(/no keys/)
})

test('keys are given to a client that is there, and public ones only', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES384', { extractable: true })
  const keysOf = async (key: CryptoKey) => ({ jwks: { keys: [await exportJWK(key)] }, jwksUrl: undefined })
  const { id: own } = await newClient(service)
  await expect(setKeys(service.database, own, await keysOf(privateKey))).rejects.toThrow(/private/)
  expect(await setKeys(service.database, own, await keysOf(publicKey))).toMatchObject({ id: own })
  await expect(setKeys(service.database, 'nobody', await keysOf(publicKey))).rejects.toThrow(/no client nobody/)
  await revokeClient(service.database, own)
  await expect(setKeys(service.database, own, await keysOf(publicKey))).rejects.toThrow(/no client/)
  await expect(newClient(service, { id: 'patient/ada' })).rejects.toThrow(/slash/)
})
