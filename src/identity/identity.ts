// Composes identity: clients authenticate, receive tokens, and every process shares the same state of both.

import type { Authenticators } from '../access/scheme.ts'
import type { Database } from '../db/database.ts'
import type { Environment } from '../lib/config.ts'
import type { Log } from '../lib/log.ts'
import type { Holder } from '../mpi/register/health-ids.ts'
import type { Reach } from '../outbound/address.ts'
import { formsOf } from '../store/base.ts'
import { agentAuthenticator } from './agents.ts'
import type { Derive } from './argon2.ts'
import { bearerAuthenticator, clientAuthenticator } from './authenticate.ts'
import { createKeySets } from './key-sets.ts'
import { createKeys, type Keys } from './keys.ts'
import { follow } from './news.ts'
import { paths } from './paths.ts'
import { createPatients, type Patients } from './patients.ts'
import { createRevocations, type Revocations } from './revocations.ts'
import { createChecker, createSecrets } from './secrets.ts'
import { createSessions, type Sessions, type SignIn } from './sessions.ts'
import { createThrottle } from './throttle.ts'
import { createTokens, type Tokens, tokenLifetime } from './tokens.ts'

export interface IdentityOptions {
  readonly database: Database
  readonly environment: Environment
  /** 32 bytes that seal the private keys. */
  readonly encryptionKey: Buffer
  /** Issuer and audience of every token. */
  readonly issuer: string
  /** Where the service is served now, without trailing slash. */
  readonly address: string
  /** Every address that the data set has or had. */
  readonly addresses: readonly string[]
  readonly log: Log
  /** Where the keys of clients may be fetched from. */
  readonly reach: Reach
  /** Returns the patient that holds a Health ID, in canonical form. */
  readonly holderOf: (healthId: string) => Promise<Holder | undefined>
  /** Puts an attempt to sign in to the portal on the audit trail. @throws Failure UNAVAILABLE */
  readonly recordSignIn: (attempt: SignIn) => Promise<void>
  /** Milliseconds. */
  readonly now?: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsed?: () => number
  readonly derive?: Derive
}

export interface Identity {
  readonly issuer: string
  /**
   * Returns the address of the endpoints for a request that came by this one: the same address, if it is one of the
   * data set's.
   */
  readonly at: (baseUrl: string) => string
  readonly keys: Keys
  readonly tokens: Tokens
  readonly revocations: Revocations
  readonly patients: Patients
  readonly sessions: Sessions
  /** The authenticators of the HTTP server, by scheme of access. */
  readonly authenticate: Authenticators
  close(): Promise<void>
}

const tidyEvery = 3_600_000

/**
 * Starts identity on a migrated database: creates the signing keys if there are none, and follows the changes of other
 * processes.
 */
export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { database, environment, encryptionKey, issuer, log, reach, holderOf, recordSignIn, derive } = options
  const { now = Date.now, elapsed } = options
  const keys = await createKeys({ database, encryptionKey, now, elapsed, lifetime: tokenLifetime })
  const revocations = createRevocations(database, tokenLifetime, now)
  const following = await follow(
    database,
    {
      hear: news => (news.kind === 'keys' ? keys.load() : revocations.hear(news)),
      async catchUp(all) {
        await Promise.all([keys.load(), revocations.catchUp(all)])
      },
    },
    log,
    elapsed,
  )
  const tokens = createTokens({ keys, revocations, isCurrent: following.isCurrent, issuer, environment, now })
  const throttle = createThrottle(now)
  const checker = createChecker({ derive })
  const secrets = createSecrets(checker, now)
  const known = new Set([options.address, ...options.addresses].flatMap(formsOf))
  const keySets = createKeySets({ reach, log, now })
  const client = clientAuthenticator({
    keySets,
    database,
    secrets,
    throttle,
    audiences: [issuer, ...[...known].map(each => each + paths.token)],
    now,
    log,
  })
  const bearer = bearerAuthenticator(tokens)
  // Failures of one kind of caller do not count against another kind from the same address.
  const patients = createPatients({ database, throttle: createThrottle(now), holderOf, now })
  const sessions = createSessions({ database, checker, throttle: createThrottle(now), record: recordSignIn, now })
  const tidying = setInterval(() => {
    tidy(database, keys, now()).catch(error => log.warn({ err: error }, 'identity: could not delete expired data'))
  }, tidyEvery).unref()
  return {
    issuer,
    at: baseUrl => (known.has(baseUrl) ? baseUrl : options.address),
    keys,
    tokens,
    revocations,
    patients,
    sessions,
    authenticate: {
      bearer,
      client,
      'client-or-bearer': credentials =>
        /^bearer /i.test(String(credentials.headers['authorization'])) ? bearer(credentials) : client(credentials),
      patient: patients.authenticate,
      session: sessions.authenticate,
      agent: agentAuthenticator(database, now),
    },
    async close() {
      clearInterval(tidying)
      await keySets.close()
      await following.close()
    },
  }
}

/** Rotates keys that are due, and deletes what has expired. */
async function tidy(database: Database, keys: Keys, now: number): Promise<void> {
  await keys.keepFresh()
  const time = [new Date(now - 60_000)]
  await database.query({ text: 'delete from revoked_token where expires_at < $1', values: time })
  for (const table of ['used_assertion', 'enrolment_code', 'patient_token', 'portal_session'])
    await database.query({ text: `delete from ${table} where expires_at < $1`, values: time })
}
