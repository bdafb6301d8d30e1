// Identity as one process has it: what it accepts under which address, what it tidies up every hour, and how it ends.
import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { argon2id } from '../../src/identity/argon2.ts'
import { createClient } from '../../src/identity/clients.ts'
import { assertionType } from '../../src/identity/credentials.ts'
import { createIdentity, type Identity } from '../../src/identity/identity.ts'
import { paths } from '../../src/identity/paths.ts'
import { createUser } from '../../src/identity/users.ts'
import type { Log } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import { openTestDatabase } from '../support/database.ts'
import { testKey } from '../support/server.ts'

const issuer = 'https://issuer.example.org'
const [address, former] = ['https://now.example.org', 'https://former.example.org']
const hour = 3_600_000

let database: Database
beforeAll(async () => {
  database = await openTestDatabase(3)
})

let identity: Identity
let hashes: number
let warned: unknown[][]
const now = Date.now()
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  hashes = 0
  warned = []
  identity = await createIdentity({
    ...{ database, environment: 'local', encryptionKey: Buffer.from(testKey, 'base64'), now: () => now },
    ...{ issuer, address, addresses: [former] },
    log: { warn: (...told: unknown[]) => void warned.push(told) } as unknown as Log,
    reach: { allowed: networks(''), isLocal: true },
    holderOf: async () => undefined,
    recordSignIn: async () => {},
    derive: (secret, recipe) => {
      hashes++
      return argon2id(secret, recipe)
    },
  })
})
afterEach(async () => {
  await identity.close()
  vi.useRealTimers()
})

const sent = (headers: Record<string, string>, body: unknown = undefined) => ({
  ...{ method: 'POST', headers, body, remoteAddress: '10.0.0.1', baseUrl: address },
})
const newClient = (more: object = {}) =>
  createClient(database, 'local', { name: 'Ward', organizationId: 'clinic', scopes: ['labs:read'], ...more })

test('a request is answered under the address by which it came, if that is one of the data set', () => {
  expect([address, former, 'https://other.example.org'].map(identity.at)).toEqual([address, former, address])
})

test('an assertion is for the issuer, or for the token endpoint under every address', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES384', { extractable: true })
  const { client } = await newClient({ jwks: { keys: [await exportJWK(publicKey)] }, secret: null })
  const proved = async (audience: string) => {
    const assertion = await new SignJWT({ iss: client.id, sub: client.id, aud: audience, jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES384' })
      .setExpirationTime(Math.floor(now / 1000) + 60)
      .sign(privateKey)
    return identity.authenticate.client(sent({}, { client_assertion_type: assertionType, client_assertion: assertion }))
  }
  for (const audience of [issuer, address + paths.token, former + paths.token])
    expect(await proved(audience)).toMatchObject({ clientId: client.id })
  await expect(proved(address)).rejects.toMatchObject({ code: 'INVALID_CLIENT' })
})

test('keys that a client publishes are fetched, and the log says where they are not', async () => {
  const { client } = await newClient({ jwksUrl: 'http://127.0.0.1:1/jwks.json', secret: null })
  const assertion = await new SignJWT({ iss: client.id })
    .setProtectedHeader({ alg: 'ES384' })
    .sign((await generateKeyPair('ES384')).privateKey)
  const proved = identity.authenticate.client(
    sent({}, { client_assertion_type: assertionType, client_assertion: assertion }),
  )
  await expect(proved).rejects.toMatchObject({ message: expect.stringContaining('JWKS URL') })
  expect(warned).toEqual([
    [
      { url: 'http://127.0.0.1:1/jwks.json', reason: 'the connection was refused' },
      'could not fetch the keys of a client',
    ],
  ])
})

test('where a client may come by its credentials or a token, Bearer tells which', async () => {
  const prove = identity.authenticate['client-or-bearer']
  const { client, secret } = await newClient()
  const token = await identity.tokens.mint({ clientId: client.id, organizationId: 'clinic', consentExempt: false }, [])
  expect(await prove(sent({ authorization: `bearer ${token}` }))).toMatchObject({ clientId: client.id, scopes: [] })
  const body = { client_id: client.id, client_secret: secret }
  expect(await prove(sent({}, body))).toMatchObject({ clientId: client.id, scopes: ['labs:read'] })
  expect(hashes).toBe(1)
  await expect((async () => prove(sent({ authorization: `xBearer ${token}` })))()).rejects.toMatchObject({
    code: 'INVALID_CLIENT',
  })
})

const tables = ['revoked_token', 'used_assertion', 'enrolment_code', 'patient_token', 'portal_session']

/** A row of each table that has expired so many milliseconds ago. */
async function expired(ago: number): Promise<void> {
  const id = randomUUID()
  const { client } = await newClient({ secret: null })
  const email = `${id}@clinic.example`
  const { user } = await createUser(database, { email, organizationId: 'clinic', roles: ['administrator'] })
  const at = new Date(now - ago)
  const insert = (text: string, ...values: unknown[]) => database.query({ text, values: [at, id, ...values] })
  await insert('insert into revoked_token (expires_at, jti, client_id) values ($1, $2, $3)', client.id)
  await insert('insert into used_assertion (expires_at, jti, client_id) values ($1, $2, $3)', client.id)
  await insert(`insert into enrolment_code (expires_at, patient_id, hash, created_at) values ($1, $2, 'x', $1)`)
  await insert(
    `insert into patient_token (expires_at, id, hash, patient_id, health_id, created_at)
      values ($1, $2, sha256($2::text::bytea), 'x', 'x', $1)`,
  )
  await insert(
    `insert into portal_session (expires_at, id, hash, user_id, address, created_at, last_seen_at)
      values ($1, $2::uuid, sha256($2::text::bytea), $3, 'x', $1, $1)`,
    user.id,
  )
}
const counts = () =>
  Promise.all(tables.map(async table => (await database.query({ text: `select from ${table}`, values: [] })).length))

test('what has expired is forgotten within the hour, a minute late for clocks that differ', async () => {
  await database.query({ text: 'delete from used_assertion', values: [] })
  await expired(59_000)
  await expired(61_000)
  expect(await counts()).toEqual([2, 2, 2, 2, 2])
  vi.advanceTimersByTime(hour)
  await expect.poll(counts, { interval: 5 }).toEqual([1, 1, 1, 1, 1])
})

test.each([
  ['used_assertion', hour, 'identity: could not delete expired data'],
  ['revoked_token', 15_000, 'identity: could not poll for changes'],
])('while %s cannot be reached, the log says what failed', async (table, later, message) => {
  const rename = (from: string, to: string) =>
    database.query({ text: `alter table ${from} rename to ${to}`, values: [] })
  const told = () => warned.filter(line => line[1] === message)
  await rename(table, 'away')
  vi.advanceTimersByTime(later)
  await expect.poll(told, { interval: 5 }).toEqual([[{ err: expect.any(Error) }, message]])
  await rename('away', table)
})

test('what is closed does nothing more', async () => {
  await identity.close()
  expect(vi.getTimerCount()).toBe(0)
})
