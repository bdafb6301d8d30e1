// The keys that sign access tokens: one active, one next that is published before its use, and retired ones that still verify.
// biome-ignore-all lint/plugin: A service has one of these.
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { ConfigError } from '../lib/config.ts'
import { seal, unseal } from '../lib/encryption.ts'
import { publish } from './news.ts'

const generate = promisify(generateKeyPair)
const lockKey = 4_215_003
const day = 86_400_000

/** A key signs for this long before the next takes over by itself. */
const activeFor = 90 * day
/** Verifiers have this long to fetch a key before it signs by itself. */
const publishedFor = day

export interface Keys {
  /** The key that signs now. */
  active(): { readonly kid: string; readonly privateKey: KeyObject }
  /** Returns the public key with that id; reads the keys again if it is unknown here. */
  find(kid: string): Promise<KeyObject | undefined>
  /** The published set (RFC 7517 §5), as JSON text. */
  readonly published: string
  /** Reads the keys again. */
  load(): Promise<void>
  /** Rotates if the active key is old and the next has been published long enough; drops retired keys that can no longer matter. */
  keepFresh(): Promise<void>
}

export interface KeysOptions {
  readonly database: Database
  readonly encryptionKey: Buffer
  /** Milliseconds. */
  readonly now: () => number
  /** Seconds that a token lives. */
  readonly lifetime: number
  /** Milliseconds of a monotonic clock. */
  readonly elapsed?: () => number
}

interface KeyRow {
  readonly kid: string
  readonly state: 'next' | 'active' | 'retired'
  readonly private_key: Buffer
  readonly public_jwk: JWK
  readonly created_at: Date
  readonly activated_at: Date | null
}

/** Loads the keys, after creating those that are missing. @throws ConfigError if they were sealed under another ENCRYPTION_KEY. */
export async function createKeys(options: KeysOptions): Promise<Keys> {
  const { database, encryptionKey, now, lifetime, elapsed = () => performance.now() } = options
  await ensureKeys(database, encryptionKey, now())
  let active: { kid: string; privateKey: KeyObject } | undefined
  let published: string
  let loadedAt = 0
  const known = new Map<string, KeyObject>()

  async function load(): Promise<void> {
    loadedAt = elapsed()
    const rows = await keysInUse(database, new Date(now() - 2 * lifetime * 1000))
    for (const row of rows) {
      if (!known.has(row.kid)) known.set(row.kid, createPublicKey({ key: row.public_jwk as never, format: 'jwk' }))
      if (row.state === 'active' && row.kid !== active?.kid)
        active = { kid: row.kid, privateKey: privateKeyOf(row, encryptionKey) }
    }
    for (const kid of known.keys()) if (!rows.some(row => row.kid === kid)) known.delete(kid)
    published = JSON.stringify({ keys: rows.map(row => row.public_jwk) })
  }

  await load()
  return {
    active: () => active!,
    async find(kid) {
      if (!known.has(kid) && elapsed() - loadedAt > 1000) await load()
      return known.get(kid)
    },
    get published() {
      return published
    },
    load,
    async keepFresh() {
      await rotateKeys(database, encryptionKey, { now: now(), onlyIfDue: true })
      await database.query({
        text: `delete from signing_key where state = 'retired' and retired_at < $1`,
        values: [new Date(now() - 2 * lifetime * 1000 - day)],
      })
    },
  }
}

/** Returns the next key, the active key, and the retired keys whose tokens may still be valid. */
function keysInUse(database: Database, retiredAfter: Date): Promise<KeyRow[]> {
  return database.query({
    name: 'signing-keys',
    text: `select * from signing_key where state <> 'retired' or retired_at > $1 order by created_at desc, kid`,
    values: [retiredAfter],
  })
}

function privateKeyOf(row: KeyRow, encryptionKey: Buffer): KeyObject {
  try {
    const jwk = JSON.parse(unseal(encryptionKey, row.private_key, context(row.kid)))
    return createPrivateKey({ key: jwk, format: 'jwk' })
  } catch (cause) {
    throw new ConfigError(
      'The signing keys in the database were encrypted with another key: start with the ENCRYPTION_KEY (or encryption.key file) that encrypted them.',
      { cause },
    )
  }
}

const context = (kid: string) => `signing-key ${kid}`

/** Creates the active and the next key where they are missing. Processes that start together agree on the same keys. */
export async function ensureKeys(database: Database, encryptionKey: Buffer, now: number): Promise<void> {
  const states = await database.query<{ state: string }>({
    text: `select state from signing_key where state <> 'retired'`,
    values: [],
  })
  if (states.length === 2) return
  await locked(database, async on => {
    for (const state of ['active', 'next'] as const) {
      if (!(await currentKey(on, state))) await insertKey(on, encryptionKey, state, now)
    }
  })
}

/**
 * Rotates the keys: the next key becomes the active one, the active one retires, and a new next key is published.
 * Tokens signed before stay valid.
 * @param onlyIfDue rotates only an active key older than 90 days, and only to a next one published for a day.
 * @returns true if it rotated.
 */
export function rotateKeys(
  database: Database,
  encryptionKey: Buffer,
  { now = Date.now(), onlyIfDue = false } = {},
): Promise<boolean> {
  return locked(database, async on => {
    const [active, next] = [await currentKey(on, 'active'), await currentKey(on, 'next')]
    const isDue =
      active?.activated_at &&
      next &&
      active.activated_at.getTime() < now - activeFor &&
      next.created_at.getTime() < now - publishedFor
    if (onlyIfDue && !isDue) return false
    const time = new Date(now)
    await on.query({
      text: `update signing_key set state = 'retired', retired_at = $1 where state = 'active'`,
      values: [time],
    })
    await on.query({
      text: `update signing_key set state = 'active', activated_at = $1 where state = 'next'`,
      values: [time],
    })
    await insertKey(on, encryptionKey, 'next', now)
    await publish(on, { kind: 'keys' })
    return true
  })
}

function locked<T>(database: Database, work: (on: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async on => {
    await on.query({ text: 'select pg_advisory_xact_lock($1)', values: [lockKey] })
    return work(on)
  })
}

async function currentKey(on: Queryable, state: 'active' | 'next'): Promise<KeyRow | undefined> {
  const [row] = await on.query<KeyRow>({ text: 'select * from signing_key where state = $1', values: [state] })
  return row
}

async function insertKey(on: Queryable, encryptionKey: Buffer, state: 'active' | 'next', now: number): Promise<void> {
  const { privateKey, publicKey } = await generate('rsa', { modulusLength: 2048 })
  const { kty, n, e } = publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint({ kty, n, e } as JWK)
  const sealed = seal(encryptionKey, JSON.stringify(privateKey.export({ format: 'jwk' })), context(kid))
  const time = new Date(now)
  await on.query({
    text: `insert into signing_key (kid, state, private_key, public_jwk, created_at, activated_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [
      kid,
      state,
      sealed,
      JSON.stringify({ kty, use: 'sig', alg: 'RS256', kid, n, e }),
      time,
      state === 'active' ? time : null,
    ],
  })
}
