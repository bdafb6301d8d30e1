// The signing keys of one process, in detail: what it publishes, what it looks up again, and what it says of a change.
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { createKeys, rotateKeys } from '../../src/identity/keys.ts'
import { openTestDatabase } from '../support/database.ts'
import { testKey } from '../support/server.ts'

const encryptionKey = Buffer.from(testKey, 'base64')
const day = 86_400_000

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
let time: number
beforeEach(async () => {
  time = Date.now()
  await run('delete from signing_key')
})
afterEach(() => void vi.useRealTimers())

const run = (text: string) => database.query<{ kid: string; state: string }>({ text, values: [] })
const kidOf = async (state: string) => (await run(`select kid from signing_key where state = '${state}'`))[0]!.kid
const begun = (elapsed?: () => number) =>
  createKeys({ database, encryptionKey, now: () => time, lifetime: 3600, ...(elapsed ? { elapsed } : {}) })

test('every key is published as one that verifies RS256, the private part of none', async () => {
  const { published } = await begun()
  const key = {
    ...{ kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB' },
    ...{ kid: expect.stringMatching(/^[\w-]{43}$/), n: expect.stringMatching(/^[\w-]{342}$/) },
  }
  expect(JSON.parse(published)).toEqual({ keys: [key, key] })
})

test('a rotation is told to every process', async () => {
  const keys = await begun()
  const next = await kidOf('next')
  const heard: unknown[] = []
  const channel = await database.listen('identity', payload => void (payload && heard.push(JSON.parse(payload))))
  await rotateKeys(database, encryptionKey)
  await expect.poll(() => heard, { interval: 1 }).toEqual([{ kind: 'keys' }])
  expect(keys.active().kid).not.toBe(next)
  await keys.load()
  expect(keys.active().kid).toBe(next)
  await channel.close()
})

test('a key that is not known is looked up once a second, by a clock that may stand anywhere', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let clock = 5000
  const [held, own] = [await begun(() => clock), await begun()]
  await rotateKeys(database, encryptionKey)
  const kid = await kidOf('next')
  clock += 1000
  vi.advanceTimersByTime(1000)
  expect([await held.find(kid), await own.find(kid)]).toEqual([undefined, undefined])
  clock += 1
  vi.advanceTimersByTime(1)
  expect([await held.find(kid), await own.find(kid)]).toEqual([expect.anything(), expect.anything()])
})

test('a retired key is kept for a day after its last token can have ended', async () => {
  const { keepFresh } = await begun()
  await rotateKeys(database, encryptionKey, { now: time })
  const kept = async () => (await run(`select kid from signing_key where state = 'retired'`)).length
  time += 2 * 3_600_000 + day - 1
  await keepFresh()
  expect(await kept()).toBe(1)
  time += 2
  await keepFresh()
  expect(await kept()).toBe(0)
})

test('nothing rotates by itself where no key is active', async () => {
  await begun()
  await run(`delete from signing_key where state = 'active'`)
  expect(await rotateKeys(database, encryptionKey, { now: time + 365 * day, onlyIfDue: true })).toBe(false)
})

test('keys that were sealed under another key are refused in words, with what failed for the log', async () => {
  await begun()
  const other = createKeys({ database, encryptionKey: Buffer.alloc(32, 1), now: () => time, lifetime: 3600 })
  await expect(other).rejects.toMatchObject({
    message: expect.stringContaining('start with the ENCRYPTION_KEY (or encryption.key file) that encrypted them.'),
    cause: expect.any(Error),
  })
})
