// Authenticates a request: returns its caller, or refuses it.

import { type Caller, createCaller } from '../access/caller.ts'
import type { Credentials } from '../access/scheme.ts'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import type { Log } from '../lib/log.ts'
import { claimedClient, claimedKey, proveAssertion } from './assertion.ts'
import { type Client, findClient } from './clients.ts'
import { type ByAssertion, type BySecret, invalidClient, presented } from './credentials.ts'
import type { KeySets } from './key-sets.ts'
import { patientTokenPrefix } from './patients.ts'
import type { Secrets } from './secrets.ts'
import type { Throttle } from './throttle.ts'
import type { Tokens, Verified } from './tokens.ts'

export interface ClientCheck {
  readonly database: Database
  readonly secrets: Secrets
  readonly throttle: Throttle
  readonly keySets: Pick<KeySets, 'at'>
  readonly audiences: readonly string[]
  readonly now: () => number
  readonly log: Log
}

/**
 * Proves a client by its own credentials; the caller has all the scopes of the client.
 * @throws Failure INVALID_CLIENT, CLOCK_SKEW, AUTH_THROTTLED, UNAVAILABLE, MALFORMED_REQUEST.
 */
export function clientAuthenticator(parts: ClientCheck): (credentials: Credentials) => Promise<Caller> {
  const touch = toucher(parts)
  return async credentials => {
    const proof = presented(credentials)
    const { remoteAddress } = credentials
    const client =
      'assertion' in proof
        ? await byAssertion(parts, proof, remoteAddress)
        : await bySecret(parts, proof, remoteAddress, touch)
    const { id: clientId, organizationId, scopes, consentExempt } = client
    return createCaller({ clientId, organizationId, scopes, consentExempt })
  }
}

async function bySecret(
  { database, secrets, throttle }: ClientCheck,
  { clientId, secret }: BySecret,
  address: string,
  touch: (secretId: number) => void,
): Promise<Client> {
  const found = await findClient(database, clientId)
  const stored = found && !found.client.revokedAt ? found.secrets : []
  const id = await secrets.find({ clientId, secret, stored, attempts: throttle(clientId, address) })
  if (!found || id === undefined) throw invalidClient()
  touch(id)
  return found.client
}

async function byAssertion(parts: ClientCheck, proof: ByAssertion, address: string): Promise<Client> {
  const { database, throttle, audiences, now } = parts
  const clientId = claimedClient(proof.assertion)
  try {
    if (proof.clientId !== undefined && proof.clientId !== clientId)
      throw invalidClient('client_id differs from the client that signed the assertion.')
    const found = await findClient(database, clientId)
    if (!found || found.client.revokedAt) throw invalidClient()
    const { jwks, jwksUrl } = found.client
    const keys = jwksUrl === undefined ? jwks : await parts.keySets.at(jwksUrl, claimedKey(proof.assertion))
    if (!keys) throw invalidClient()
    await proveAssertion(database, proof.assertion, { clientId, jwks: keys, audiences, now: now() })
    return found.client
  } catch (error) {
    // Checking a signature is cheap and cannot be guessed at, so a good one passes whatever failed before it.
    if (error instanceof Failure && error.status === 401) throttle(clientId, address).take()
    throw error
  }
}

/** Notes when a secret was last used, at most once a minute; a note that fails is only logged. */
function toucher({ database, now, log }: ClientCheck): (secretId: number) => void {
  const noted = new Map<number, number>()
  return secretId => {
    if (now() - (noted.get(secretId) ?? 0) < 60_000) return
    noted.set(secretId, now())
    database
      .query({ text: 'update client_secret set last_used_at = $2 where id = $1', values: [secretId, new Date(now())] })
      .catch(error => log.warn({ err: error }, 'identity: could not record the use of a secret'))
  }
}

/** Proves a caller by its access token. @throws Failure UNAUTHENTICATED, TOKEN_EXPIRED, TOKEN_INVALID, UNAVAILABLE. */
export function bearerAuthenticator(
  tokens: Tokens,
): (credentials: Pick<Credentials, 'headers'>) => Caller | Promise<Caller> {
  const callerOf = (verified: Verified) => verified.caller
  return ({ headers }) => {
    const token = bearerToken(headers)
    if (token.startsWith(patientTokenPrefix))
      throw new Failure(
        'TOKEN_INVALID',
        'This operation requires an access token of an integration client, not a patient token.',
      )
    const verified = tokens.verify(token)
    return verified instanceof Promise ? verified.then(callerOf) : verified.caller
  }
}

/** The token of an Authorization header. @throws Failure UNAUTHENTICATED if there is none. */
export function bearerToken(headers: Credentials['headers']): string {
  const header = headers['authorization']
  if (typeof header === 'string' && /^bearer /i.test(header)) return header.slice(7).trim()
  throw new Failure(
    'UNAUTHENTICATED',
    'Send an access token: Authorization: Bearer <token>. Get one from POST /api/v1/connect/auth/token.',
  )
}
