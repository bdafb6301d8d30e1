// What an access token says, for how long it is good, and why one that is not ours proves nothing.
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import { createTokens, type TokensOptions, type Verified } from '../../src/identity/tokens.ts'

const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const [ours, theirs] = [pair(), pair()]
const issuer = 'https://interop.example.org'
const clinic = { clientId: 'ada', organizationId: 'clinic', consentExempt: false }
const begun = 1_800_000_000_250

let time = begun
let isCurrent = true
/** Ids of tokens and of clients. */
let revoked: { tokens: string[]; clients: string[] }
beforeEach(() => {
  time = begun
  isCurrent = true
  revoked = { tokens: [], clients: [] }
})

const service = (change: Partial<TokensOptions> = {}) =>
  createTokens({
    keys: {
      active: () => ({ kid: 'ours', privateKey: ours.privateKey }),
      find: async (kid: string) => (kid === 'ours' ? ours.publicKey : undefined),
    } as unknown as TokensOptions['keys'],
    revocations: {
      has: (jti: string, clientId: string) => revoked.tokens.includes(jti) || revoked.clients.includes(clientId),
    } as unknown as TokensOptions['revocations'],
    isCurrent: () => isCurrent,
    now: () => time,
    ...{ issuer, environment: 'sandbox', ...change },
  })
const tokens = service()
const fresh = () => tokens.mint(clinic, ['labs:read', 'patients:read'])
const refused = (token: string, at = tokens): Promise<unknown> =>
  (async () => at.verify(token))().then(
    () => undefined,
    ({ code, message }) => `${code} ${message}`,
  )
const because = (why: string) => `TOKEN_INVALID The access token is not valid: ${why}.`
const expired = 'TOKEN_EXPIRED The access token has expired: request a new one.'

/** A token as the service itself signs it, but for what the test changes. */
const signed = async (change: JWTPayload = {}, header: object = {}, key = ours.privateKey) =>
  new SignJWT({ ...decodeJwt(await fresh()), ...change })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'ours', ...header })
    .sign(key)

test('a token says who its client is, what it may do, where it is good, and for an hour from the second it is made in', async () => {
  const token = await fresh()
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: 'ours' })
  expect(decodeJwt(token)).toEqual({
    ...{ iss: issuer, aud: issuer, sub: 'ada', client_id: 'ada', organization_id: 'clinic', env: 'sandbox' },
    ...{ iat: 1_800_000_000, exp: 1_800_003_600, jti: expect.stringMatching(/^[0-9A-Za-z]{22}$/) },
    scope: 'labs:read patients:read',
  })
  expect(decodeJwt(await fresh()).jti).not.toBe(decodeJwt(token).jti)
})

test('a token proves its client and what it was given, and nothing that it was not', async () => {
  const token = await fresh()
  const { claims, caller } = (await tokens.verify(token)) as Verified
  expect(claims).toEqual(decodeJwt(token))
  const { jti } = claims
  expect(caller).toMatchObject({ kind: 'client', ...clinic, scopes: ['labs:read', 'patients:read'], tokenId: jti })
  const { caller: bare } = await tokens.verify(await tokens.mint(clinic, []))
  expect(bare).toMatchObject({ scopes: [] })
  const keeper = await tokens.verify(await tokens.mint({ ...clinic, consentExempt: true }, ['labs:read']))
  expect([keeper.claims.consent_exempt, keeper.caller]).toMatchObject([true, { consentExempt: true }])
})

test.each(['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti', 'scope', 'organization_id'])(
  'a token without %s is refused, and told so',
  async claim => {
    expect(await refused(await signed({ [claim]: undefined }))).toBe(because(`its claim ${claim} is missing or wrong`))
  },
)

test.each<[string, () => Promise<string>, string]>([
  ['for another audience', () => signed({ aud: 'https://other.example.org' }), 'its claim aud is missing or wrong'],
  ['of another issuer', () => signed({ iss: 'https://other.example.org' }), 'its claim iss is missing or wrong'],
  ['of another type', () => signed({}, { typ: 'JWT' }), 'its claim typ is missing or wrong'],
  ['under an unknown key', () => signed({}, { kid: 'theirs' }), 'it was signed with an unknown key'],
  ['that names no key', () => signed({}, { kid: undefined }), 'it was signed with an unknown key'],
  ['that somebody else signed', () => signed({}, {}, theirs.privateKey), 'its signature is wrong'],
  ['signed by another algorithm', () => signed({}, { alg: 'PS256' }), 'it is not signed with RS256'],
  [
    'that our public key is the secret of',
    async () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const text = `${part({ alg: 'HS256', typ: 'at+jwt', kid: 'ours' })}.${part(decodeJwt(await fresh()))}`
      const secret = ours.publicKey.export({ type: 'spki', format: 'pem' })
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    },
    'it is not signed with RS256',
  ],
  ['of 16 KiB without sense', async () => 'x'.repeat(16_384), 'it was not issued by this service'],
  ['of more than 16 KiB', async () => 'x'.repeat(16_385), 'it is too long'],
])('a token %s is refused in words', async (_what, forge, why) => {
  expect(await refused(await forge())).toBe(because(why))
})

test('why a token could not be read is kept for the log', async () => {
  await expect(tokens.verify('nonsense')).rejects.toMatchObject({ cause: { code: 'ERR_JWS_INVALID' } })
})

test('keys that cannot be looked up make no token invalid: what failed is passed on', async () => {
  const failure = new Error('no connection')
  const find = () => Promise.reject(failure)
  const cut = service({ keys: { find } as unknown as TokensOptions['keys'] })
  await expect(cut.verify(await fresh())).rejects.toBe(failure)
})

test('a token ends to the millisecond, whether it is remembered or not', async () => {
  const [known, unknown] = [await fresh(), await fresh()]
  await tokens.verify(known)
  time = 1_800_003_600_000 - 1
  expect([await refused(known), await refused(await signed({ exp: 1_800_003_600 }))]).toEqual([undefined, undefined])
  time++
  expect([await refused(known), await refused(unknown)]).toEqual([expired, expired])
})

test('a token stops when it or its client is revoked, whether it is remembered or not', async () => {
  const [known, unknown, another] = [await fresh(), await fresh(), await fresh()]
  for (const each of [known, another]) await tokens.verify(each)
  revoked.tokens = [known, unknown].map(each => decodeJwt(each).jti!)
  const revokedNow = because('it was revoked')
  expect(await Promise.all([known, unknown, another].map(each => refused(each)))).toEqual([
    ...[revokedNow, revokedNow, undefined],
  ])
  revoked.clients = ['ada']
  expect(await refused(another)).toBe(revokedNow)
})

test('while revocations may be unknown no token is good, and none is bad: try again', async () => {
  const token = await fresh()
  isCurrent = false
  for (const _ of ['unknown', 'known'])
    await expect((async () => tokens.verify(token))()).rejects.toMatchObject({
      ...{ code: 'UNAVAILABLE', message: 'The revocation list is temporarily unavailable: try again.' },
      options: { retryAfter: 2 },
    })
  isCurrent = true
  expect(await refused(token)).toBeUndefined()
})

test('tokens are remembered for two generations, and those that are used for longer', async () => {
  const small = service({ generation: 2 })
  const [first, second, third, fourth] = (await Promise.all([1, 2, 3, 4].map(fresh))) as [string, ...string[]]
  for (const each of [first, second, third]) await small.verify(each!)
  /** One that is remembered is answered at once. */
  const isKnown = (token: string) => !(small.verify(token) instanceof Promise)
  expect(isKnown(first)).toBe(true)
  await small.verify(fourth!)
  expect([fourth!, first, third!].map(isKnown)).toEqual([true, true, true])
  expect(isKnown(second!)).toBe(false)
})
