// SMART Backend Services from end to end: a client is set up by a command, signs assertions, and changes its keys.
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { createKeySets } from '../../src/identity/key-sets.ts'
import { createLog } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import { adminOn } from '../support/admin.ts'
import { onCleanup } from '../support/cleanup.ts'
import { newClient, type Process, post, startProcess, tokenPath, useToken } from '../support/identity.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let service: Process
let folder: string
const { admin, told } = adminOn(() => (service.connection as { database: string }).database)
const described = ['--name', 'Analytics', '--organization', 'hospital-a', '--scopes', 'system/Observation.rs']

interface Pair {
  readonly kid: string
  readonly alg: string
  readonly key: CryptoKey
  readonly jwk: JWK
}

async function pairOf(kid: string, alg: string): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

async function signIn(id: string, { kid, alg, key }: Omit<Pair, 'kid'> & { kid?: string | undefined }) {
  const assertion = await new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg, kid, typ: 'JWT' })
    .setIssuer(id)
    .setSubject(id)
    .setAudience(service.url + tokenPath)
    .setExpirationTime(Math.floor(service.now() / 1000) + 240)
    .sign(key)
  const form = {
    grant_type: 'client_credentials',
    scope: 'system/Observation.rs',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  }
  return post(service, tokenPath, new URLSearchParams(form))
}

/** A server on this machine that publishes keys, and counts how often it is asked. */
async function publisher(keys: () => unknown) {
  const asked = { count: 0 }
  const server = createServer((_, reply) => {
    asked.count++
    const answer = keys()
    if (typeof answer === 'number') return reply.writeHead(answer, { location: '/other' }).end()
    const { status = 200 } = answer as { status?: number }
    reply.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onCleanup(() => new Promise<void>(done => server.close(() => done())))
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json` }
}

beforeAll(async () => {
  service = await startProcess()
  folder = await temporaryFolder('keys')
})

test('a client is created with its public keys, gets no secret, and signs in by RS384 and ES384', async () => {
  const pairs = await Promise.all([pairOf('rsa', 'RS384'), pairOf('ec', 'ES384')])
  const file = join(folder, 'jwks.json')
  await writeFile(file, JSON.stringify({ keys: pairs.map(({ jwk }) => jwk) }))
  const made = await told(['client', 'create', ...described, '--jwks', file])
  expect(made).toMatchObject({ key_ids: ['rsa', 'ec'], jwks_url: null })
  expect(made.client_secret).toBeUndefined()
  for (const pair of pairs) {
    const { status, body } = await signIn(made.client_id, pair)
    expect([status, body.scope]).toEqual([200, 'system/Observation.rs'])
    expect((await useToken(service, body.access_token)).body.client_id).toBe(made.client_id)
  }
  expect((await signIn(made.client_id, await pairOf('rsa', 'RS384'))).status).toBe(401)
})

test('a client publishes its keys at a URL, and changes them there', async () => {
  const [first, second] = await Promise.all([pairOf('one', 'RS384'), pairOf('two', 'ES384')])
  let keys = [first.jwk]
  const { asked, url } = await publisher(() => ({
    keys: [...keys, { kty: 'OKP', crv: 'Ed25519', x: 'a', kid: 'other' }],
  }))
  const { id } = await newClient(service, { jwksUrl: url, secret: null })
  for (let time = 0; time < 3; time++) expect((await signIn(id, first)).status).toBe(200)
  service.advance(10)
  for (const pair of [first, { ...first, kid: undefined }]) expect((await signIn(id, pair)).status).toBe(200)
  expect(asked.count).toBe(1)
  keys = [first.jwk, second.jwk]
  expect((await signIn(id, second)).status).toBe(200)
  expect(asked.count).toBe(2)
  keys = [second.jwk]
  service.advance(299)
  expect((await signIn(id, first)).status).toBe(200)
  service.advance(1)
  expect((await signIn(id, first)).status).toBe(401)
  expect((await signIn(id, second)).status).toBe(200)
  expect(asked.count).toBe(3)
})

test('key ids that nobody knows have the keys fetched once in ten seconds, however many they are', async () => {
  const known = await pairOf('known', 'ES384')
  const { asked, url } = await publisher(() => ({ keys: [known.jwk] }))
  const { id } = await newClient(service, { jwksUrl: url, secret: null })
  expect((await signIn(id, known)).status).toBe(200)
  for (let time = 0; time < 5; time++) expect((await signIn(id, { ...known, kid: `unknown-${time}` })).status).toBe(401)
  service.advance(9)
  expect((await signIn(id, { ...known, kid: 'unknown' })).status).toBe(401)
  expect(asked.count).toBe(1)
  service.advance(1)
  const answers = await Promise.all([0, 1, 2].map(time => signIn(id, { ...known, kid: `unknown-${time}` })))
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
  expect(asked.count).toBe(2)
})

test('a key server that fails does not lock a client out at once; one that never answered well does', async () => {
  const pair = await pairOf('kept', 'ES384')
  let answer: unknown = { keys: [pair.jwk] }
  const { url } = await publisher(() => answer)
  const { id } = await newClient(service, { jwksUrl: url, secret: null })
  expect((await signIn(id, pair)).status).toBe(200)
  answer = 503
  service.advance(1800)
  expect((await signIn(id, pair)).status).toBe(200)
  service.advance(1800)
  const refused = await signIn(id, pair)
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
  expect(refused.body.error_description).toContain('JWKS URL')
})

const filled = (keys: object[], bytes: number): string => {
  const text = JSON.stringify({ keys, filler: '' })
  return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`)
}

test.each<[string, (jwk: JWK) => unknown]>([
  ['a redirect', () => 302],
  ['an answer that the keys are not found', jwk => ({ status: 404, keys: [jwk] })],
  ['no JSON', () => 'hello'],
  ['null', () => 'null'],
  ['more bytes than a key set has', jwk => filled([jwk], 65_537)],
  ['a list', jwk => [jwk]],
  ['keys that are no list', jwk => ({ keys: { kept: jwk } })],
  ['keys that are no objects', () => ({ keys: [null, 7] })],
  ['no key', () => ({ keys: [] })],
  ['a private key', jwk => ({ keys: [{ ...jwk, d: 'c' }] })],
])('%s at the URL is no key set', async (_name, answer) => {
  const pair = await pairOf('kept', 'ES384')
  const { url } = await publisher(() => answer(pair.jwk))
  const { id } = await newClient(service, { jwksUrl: url, secret: null })
  const { status, body } = await signIn(id, pair)
  expect([status, body.error_description]).toEqual([401, expect.stringContaining('JWKS URL')])
})

test('a key set has up to 65,536 bytes', async () => {
  const pair = await pairOf('kept', 'ES384')
  const { url } = await publisher(() => filled([pair.jwk], 65_536))
  const { id } = await newClient(service, { jwksUrl: url, secret: null })
  expect((await signIn(id, pair)).status).toBe(200)
})

test('the keys of 500 clients are kept, of those that signed in last', async () => {
  const { jwk } = await pairOf('one', 'ES384')
  const { asked, url } = await publisher(() => ({ keys: [jwk] }))
  const sets = createKeySets({
    reach: { allowed: networks(''), isLocal: true },
    log: createLog('silent'),
    now: () => 0,
  })
  onCleanup(() => sets.close())
  /** Times that the URLs of these numbers are asked for the keys. */
  const fetches = async (...numbers: number[]) => {
    const before = asked.count
    await Promise.all(numbers.map(each => sets.at(`${url}?${each}`, 'one')))
    return asked.count - before
  }
  const all = Array.from({ length: 500 }, (_, at) => at)
  for (const part of [all.slice(0, 250), all.slice(250)]) expect(await fetches(...part)).toBe(250)
  expect(await fetches(...all)).toBe(0)
  expect(await fetches(0)).toBe(0)
  expect(await fetches(500)).toBe(1)
  expect(await fetches(0)).toBe(0)
  expect(await fetches(1)).toBe(1)
})

test('keys are set, listed and taken away by commands, and only where they may be fetched from', async () => {
  const { id } = await newClient(service)
  const url = 'https://keys.example.org/jwks.json'
  expect(await told(['client', 'set-keys', id, '--jwks-url', url])).toMatchObject({ jwks_url: url, key_ids: null })
  const { output } = await admin(['client', 'list'])
  expect(output).toContain(url)
  expect(await told(['client', 'set-keys', id, '--none'])).toMatchObject({ jwks_url: null, key_ids: null })
  const nothing = join(folder, 'null.json')
  await writeFile(nothing, 'null')
  const words = join(folder, 'words.json')
  await writeFile(words, 'no keys')
  const cases: [string[], number, string][] = [
    [['client', 'set-keys', id], 2, 'specify exactly one of --jwks, --jwks-url and --none'],
    [['client', 'set-keys', id, '--none', '--jwks-url', url], 2, 'specify exactly one of'],
    [['client', 'set-keys', id, '--jwks-url', 'https://10.0.0.1/jwks.json'], 1, '10.0.0.1 is private'],
    [
      ['client', 'set-keys', id, '--jwks', join(folder, 'nothing.json')],
      2,
      'nothing.json cannot be read: there is no such file',
    ],
    [['client', 'set-keys', id, '--jwks', words], 2, 'does not contain a JSON Web Key Set'],
    [['client', 'set-keys', id, '--jwks', nothing], 1, 'The key set contains no keys.'],
  ]
  await told(['client', 'set-keys', id, '--jwks-url', url])
  for (const [args, code, told] of cases) {
    const outcome = await admin(args)
    expect([outcome.code, outcome.output.includes(told)], outcome.output).toEqual([code, true])
  }
  // A file with nothing in it takes no keys away.
  expect((await admin(['client', 'list'])).output).toContain(url)
})
