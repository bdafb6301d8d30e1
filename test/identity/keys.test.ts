// The signing keys: published before use, sealed at rest, rotated without breaking a token.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { createKeys, ensureKeys, rotateKeys } from '../../src/identity/keys.ts'
import { readOrCreateKey, seal, unseal } from '../../src/lib/encryption.ts'
import { layoutOfRun } from '../support/database.ts'
import { eventually, newClient, type Process, signIn, startProcess, useToken } from '../support/identity.ts'
import { testKey } from '../support/server.ts'
import { createTestDatabase } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const encryptionKey = Buffer.from(testKey, 'base64')
const day = 86_400_000

let service: Process
beforeAll(async () => {
  service = await startProcess()
})

const published = async (from: Process): Promise<string[]> => {
  const response = await fetch(`${from.url}/.well-known/jwks.json`)
  return ((await response.json()) as { keys: { kid: string }[] }).keys.map(key => key.kid)
}

test('the published set holds the active and the next key, public members only, and may be cached', async () => {
  const response = await fetch(`${service.url}/.well-known/jwks.json`)
  const { keys } = (await response.json()) as { keys: object[] }
  expect(response.headers.get('cache-control')).toBe('public, max-age=3600')
  expect(keys).toHaveLength(2)
  for (const key of keys) {
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.stringMatching(/^[\w-]{43}$/) })
  }
})

test('rotation makes the published next key sign, in every process, and tokens of the old key stay valid', async () => {
  const other = await startProcess({ beside: service })
  const client = await newClient(service)
  const mint = async (at: Process) => (await signIn(at, client.id, client.secret)).body.access_token as string
  const before = await mint(service)
  const [old, known] = [decodeProtectedHeader(before).kid!, await published(other)]
  expect(await rotateKeys(service.database, encryptionKey)).toBe(true)
  await eventually(async () => decodeProtectedHeader(await mint(other)).kid !== old)
  await eventually(async () => decodeProtectedHeader(await mint(service)).kid !== old)
  const after = await mint(other)
  expect(known).toContain(decodeProtectedHeader(after).kid)
  const [newest, ...others] = await published(service)
  expect(known).not.toContain(newest)
  expect(others).toHaveLength(2)
  expect(await published(service)).toContain(old)
  for (const each of [service, other]) {
    for (const token of [before, after]) expect((await useToken(each, token)).status).toBe(200)
  }
})

test('a key rotates by itself only when it is old, and only to one published for a day', async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  const start = Date.now()
  const due = (days: number) => rotateKeys(database, encryptionKey, { now: start + days * day, onlyIfDue: true })
  expect(await due(89)).toBe(false)
  expect(await due(91)).toBe(true)
  expect(await due(91.5)).toBe(false)
  await database.query({
    text: `update signing_key set activated_at = activated_at - interval '1 year' where state = 'active'`,
    values: [],
  })
  expect(await due(91.5)).toBe(false)
  expect(await due(92.1)).toBe(true)
  await database.end()
})

test('a retired key is published for two lifetimes of a token, and deleted in the end', async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  let time = Date.now()
  const keys = await createKeys({ database, encryptionKey, now: () => time, lifetime: 3600 })
  const old = keys.active().kid
  await rotateKeys(database, encryptionKey, { now: time })
  time += 7_100_000
  await keys.load()
  expect(keys.published).toContain(old)
  expect(await keys.find(old)).toBeDefined()
  time += 200_000
  await keys.load()
  expect(keys.published).not.toContain(old)
  expect(await keys.find(old)).toBeUndefined()
  const inTable = () => database.query({ text: 'select kid, state from signing_key order by kid', values: [] })
  const before = await inTable()
  expect(before).toHaveLength(3)
  await keys.keepFresh()
  expect(await inTable()).toEqual(before)
  time += day
  await keys.keepFresh()
  const rows = await database.query({ text: 'select kid from signing_key where kid = $1', values: [old] })
  expect(rows).toEqual([])
  await database.end()
})

test('a key that is not known is looked up, but not twice in a second', async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  let clock = 0
  const keys = await createKeys({ database, encryptionKey, now: Date.now, lifetime: 3600, elapsed: () => clock })
  await rotateKeys(database, encryptionKey)
  const [{ kid }] = (await database.query<{ kid: string }>({
    text: `select kid from signing_key where state = 'next'`,
    values: [],
  })) as [{ kid: string }]
  clock = 1000
  expect(await keys.find(kid)).toBeUndefined()
  clock = 1001
  expect(await keys.find(kid)).toBeDefined()
  await database.end()
})

test('keys that are missing are made, whatever has retired; none retires while another is missing', async () => {
  const database = openDatabase(await createTestDatabase(), {
    poolSize: 2,
    statementTimeout: 10_000,
    layout: layoutOfRun(),
  })
  const start = Date.now()
  const run = (text: string) => database.query<{ state: string }>({ text, values: [] })
  const states = async () => (await run('select state from signing_key order by state')).map(({ state }) => state)
  for (let times = 0; times < 2; times++) await rotateKeys(database, encryptionKey)
  await run(`delete from signing_key where state = 'next'`)
  expect(await rotateKeys(database, encryptionKey, { now: start + 91 * day, onlyIfDue: true })).toBe(false)
  await run(`delete from signing_key where state = 'active'`)
  expect(await states()).toEqual(['retired', 'retired'])
  await ensureKeys(database, encryptionKey, start)
  expect(await states()).toEqual(['active', 'next', 'retired', 'retired'])
  await database.end()
})

test('processes that start at the same time on an empty database agree on the same keys', async () => {
  const connection = await createTestDatabase()
  const database = openDatabase(connection, { poolSize: 8, statementTimeout: 10_000, layout: layoutOfRun() })
  await database.query({ text: 'delete from signing_key', values: [] })
  await Promise.all(Array.from({ length: 5 }, () => ensureKeys(database, encryptionKey, Date.now())))
  const rows = await database.query({
    text: 'select state, activated_at from signing_key order by state',
    values: [],
  })
  expect(rows).toEqual([
    { state: 'active', activated_at: expect.any(Date) },
    { state: 'next', activated_at: null },
  ])
  await database.end()
})

test('private keys are sealed in the database, and another ENCRYPTION_KEY is refused in words', async () => {
  const rows = await service.database.query<{ private_key: Buffer }>({
    text: 'select private_key from signing_key',
    values: [],
  })
  for (const row of rows) expect(row.private_key.toString('latin1')).not.toContain('"d"')
  const other = { database: service.database, encryptionKey: Buffer.alloc(32, 1), now: Date.now, lifetime: 3600 }
  await expect(createKeys(other)).rejects.toThrow(/ENCRYPTION_KEY/)
})

test('what is sealed opens only with the same key and context, and only unchanged', () => {
  const sealed = seal(encryptionKey, 'a secret', 'row 1')
  expect(unseal(encryptionKey, sealed, 'row 1')).toBe('a secret')
  expect(seal(encryptionKey, 'a secret', 'row 1').equals(sealed)).toBe(false)
  expect(() => unseal(encryptionKey, sealed, 'row 2')).toThrow()
  expect(() => unseal(Buffer.alloc(32, 1), sealed, 'row 1')).toThrow()
  sealed[sealed.length - 1]! ^= 1
  expect(() => unseal(encryptionKey, sealed, 'row 1')).toThrow()
})

test('outside production the key is made once, readable by its owner only, the same for all who ask at once', async () => {
  const folder = await temporaryFolder('key')
  const keys = await Promise.all(Array.from({ length: 8 }, () => readOrCreateKey(join(folder, 'data'))))
  expect(new Set(keys.map(key => key.toString('hex'))).size).toBe(1)
  const file = join(folder, 'data', 'encryption.key')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readFile(file, 'utf8')).trim()).toBe(keys[0]!.toString('base64'))
})
