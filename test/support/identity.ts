// Identity alone behind a server, with a clock and a hash that a test holds; several on one database are several processes.

import { identityRoutes } from '../../src/api/auth/routes.ts'
import { enrolmentRoutes } from '../../src/api/mobile/routes.ts'
import { sessionRoutes } from '../../src/api/portal/session-routes.ts'
import { sealingKey } from '../../src/audit/chain.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import { type Connection, type Database, openDatabase } from '../../src/db/database.ts'
import { createIdempotency } from '../../src/http/idempotency.ts'
import { createLimits, sameQuotas } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import { createApp } from '../../src/http/server.ts'
import { recordSignIn } from '../../src/http/sign-ins.ts'
import { argon2id, type Derive } from '../../src/identity/argon2.ts'
import { createClient, type NewClient } from '../../src/identity/clients.ts'
import { createIdentity, type Identity, type IdentityOptions } from '../../src/identity/identity.ts'
import { createLog, type Log } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import { onCleanup } from './cleanup.ts'
import { freePort } from './process.ts'
import { testKey } from './server.ts'
import { createTestDatabase } from './service.ts'

export interface Process {
  readonly url: string
  readonly identity: Identity
  readonly database: Database
  readonly connection: Connection
  /** Argon2 hashes made so far to check secrets. */
  hashes(): number
  /** Moves the process's clock, which stands still otherwise. */
  advance(seconds: number): void
  /** The time of that clock, in milliseconds. */
  now(): number
}

export interface ProcessOptions {
  /** The database of another process; absent: one of its own. */
  readonly beside?: Process
  readonly log?: Log
  readonly derive?: Derive
  /** Who answers for Health IDs; absent: for each a patient of its own. */
  readonly holderOf?: IdentityOptions['holderOf']
  readonly elapsed?: IdentityOptions['elapsed']
}

const derived = new Map<string, Promise<Buffer>>()

/** Argon2id, which computes the tag of a secret once for each recipe: a guess that a test repeats costs its hash once. */
export const argon2idOnce: Derive = (secret, recipe) => {
  const key = JSON.stringify([secret, recipe])
  const tag = derived.get(key) ?? argon2id(secret, recipe)
  derived.set(key, tag)
  return tag
}

/** Starts one process; it stops after the file's last test. */
export async function startProcess({
  beside,
  log = createLog('silent'),
  derive = argon2idOnce,
  holderOf = async healthId => ({ patient: healthId.toLowerCase(), current: healthId, isMerged: false }),
  elapsed,
}: ProcessOptions = {}): Promise<Process> {
  const connection = beside?.connection ?? (await createTestDatabase())
  const database = openDatabase(connection, { poolSize: 5, statementTimeout: 30_000 })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let [offset, hashes] = [0, 0]
  const start = Date.now()
  const now = () => start + offset
  const counted: Derive = (secret, recipe) => {
    hashes++
    return derive(secret, recipe)
  }
  const encryptionKey = Buffer.from(testKey, 'base64')
  const audit = createAuditWriter({ database, key: sealingKey(encryptionKey), log, now: () => new Date(now()) })
  const identity = await createIdentity({
    database,
    environment: 'local',
    encryptionKey,
    ...{ issuer: beside?.identity.issuer ?? url, address: url, addresses: [beside?.identity.issuer ?? url] },
    log,
    reach: { allowed: networks(''), isLocal: true },
    holderOf,
    recordSignIn: attempt => recordSignIn(audit, attempt),
    now,
    elapsed,
    derive: counted,
  })
  const app = createApp({
    routes: [
      ...identityRoutes(identity),
      ...enrolmentRoutes(identity.patients),
      ...sessionRoutes(identity.sessions, false),
    ],
    authenticate: identity.authenticate,
    readPurpose: caller => caller,
    ...{ database, searchTimeout: 10_000 },
    limits: createLimits(sameQuotas(1_000_000)),
    idempotency: createIdempotency({
      database,
      log,
      unitOfWork: (_caller, work) => database.transaction(work),
      now: () => new Date(now()),
    }),
    audit,
    log,
    observer: { begun: () => {}, answered: () => {} },
    baseUrl: undefined,
    trustedProxies: networks(''),
    maxBodyBytes: 1_000_000,
  })
  const listening = await listen(app, port, '127.0.0.1')
  onCleanup(async () => {
    await listening.close()
    await identity.close()
    await database.end()
  })
  return {
    url,
    identity,
    database,
    connection,
    hashes: () => hashes,
    now,
    advance: seconds => void (offset += seconds * 1000),
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Tests look into replies freely; what they find is what they assert.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

export const tokenPath = '/api/v1/connect/auth/token'

/** Sends a JSON object, or a form given as URLSearchParams. */
export async function post(
  to: { url: string },
  path: string,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isReady = typeof body === 'string' || body instanceof URLSearchParams
  const response = await fetch(to.url + path, {
    method: 'POST',
    headers: { ...(isReady ? {} : { 'content-type': 'application/json' }), ...headers },
    body: isReady ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

/** Asks for a token with id and secret in a JSON body. */
export function signIn(to: { url: string }, clientId: string, secret: string, more: object = {}): Promise<Answer> {
  return post(to, tokenPath, { grant_type: 'client_credentials', client_id: clientId, client_secret: secret, ...more })
}

/** A client of its own for one test. */
export async function newClient(on: Process, input: Partial<NewClient> = {}): Promise<{ id: string; secret: string }> {
  const { client, secret } = await createClient(on.database, 'local', {
    name: 'Test client',
    organizationId: 'hospital-a',
    scopes: ['patients:read', 'labs:read', 'system/Observation.rs'],
    ...input,
  })
  return { id: client.id, secret: secret ?? '' }
}

/** What a caller with the token gets from a route that needs one. */
export async function useToken(to: { url: string }, token: string | undefined): Promise<Answer> {
  const response = await fetch(`${to.url}/api/v1/sdk/token/introspect`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Waits until the question is answered with true: news travels in milliseconds, but not in none. */
export async function eventually(question: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + 30_000
  while (!(await question())) {
    if (performance.now() > until) throw new Error('It did not come about within thirty seconds.')
    await new Promise(done => setTimeout(done, 5))
  }
}
