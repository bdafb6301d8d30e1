// private_key_jwt: a client proves itself with a signed assertion instead of a secret (RFC 7523; SMART Backend Services).
// https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html
import { createPublicKey } from 'node:crypto'
import type { JSONWebKeySet, JWK, JWTPayload } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import * as errors from 'jose/errors'
import { createLocalJWKSet } from 'jose/jwks/local'
import { decodeJwt } from 'jose/jwt/decode'
import { jwtVerify } from 'jose/jwt/verify'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { invalidClient } from './credentials.ts'

/** Signature algorithms that an assertion may use. */
export const assertionAlgorithms = ['RS384', 'ES384', 'RS256'] as const

/** Seconds that an assertion may live, and that two clocks may differ. */
const longestLife = 300
const tolerance = 10

/** Returns the client that an assertion claims to be from, unverified. @throws Failure INVALID_CLIENT if it is no JWT. */
export function claimedClient(assertion: string): string {
  try {
    const { iss } = decodeJwt(assertion)
    if (typeof iss === 'string') return iss
  } catch {}
  throw invalidClient('client_assertion is not a JWT with an iss.')
}

/** The key id that an assertion names, if it names one. */
export function claimedKey(assertion: string): string | undefined {
  try {
    return decodeProtectedHeader(assertion).kid
  } catch {
    return undefined
  }
}

export interface AssertionCheck {
  readonly clientId: string
  readonly jwks: JSONWebKeySet
  /** The token endpoint or the issuer. */
  readonly audiences: readonly string[]
  readonly now: number
}

/** Verifies an assertion and marks it as used. @throws Failure INVALID_CLIENT, CLOCK_SKEW. */
export async function proveAssertion(database: Database, assertion: string, options: AssertionCheck): Promise<void> {
  const { jti, exp } = await verified(assertion, options)
  const life = exp! - options.now / 1000
  if (life > longestLife + tolerance)
    throw invalidClient(
      `client_assertion must expire within ${longestLife} seconds; this one expires in ${Math.ceil(life)}.`,
    )
  if (typeof jti !== 'string' || !/^[^\0]{1,255}$/.test(jti))
    throw invalidClient('client_assertion must have a jti of 1 to 255 characters.')
  const used = await database.query({
    text: `insert into used_assertion (client_id, jti, expires_at) values ($1, $2, $3)
      on conflict (client_id, jti) do update set expires_at = excluded.expires_at where used_assertion.expires_at < $4
      returning jti`,
    values: [options.clientId, jti, new Date((exp! + tolerance) * 1000), new Date(options.now)],
  })
  if (used.length === 0)
    throw invalidClient('client_assertion was used before: sign a new assertion with a new jti for each request.')
}

async function verified(assertion: string, { clientId, jwks, audiences, now }: AssertionCheck): Promise<JWTPayload> {
  const rules = {
    algorithms: [...assertionAlgorithms],
    issuer: clientId,
    subject: clientId,
    audience: [...audiences],
    requiredClaims: ['exp', 'jti', 'aud', 'iss', 'sub'],
    clockTolerance: tolerance,
    currentDate: new Date(now),
  }
  try {
    return (await jwtVerify(assertion, createLocalJWKSet(jwks), rules)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw refused(error)
    for await (const key of error) {
      const result = await jwtVerify(assertion, key, rules).catch(other => {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw refused(other)
      })
      if (result) return result.payload
    }
    throw invalidClient()
  }
}

function refused(error: unknown): Failure {
  if (error instanceof errors.JWTExpired) return invalidClient('client_assertion has expired.')
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf' && error.reason === 'check_failed')
      return new Failure('CLOCK_SKEW', 'client_assertion is not valid yet: check the clock of the client.')
    return invalidClient(`client_assertion has the wrong ${error.claim}.`)
  }
  // Only the assertion and the keys of the client enter the check: any other failure is a fault of these.
  return invalidClient()
}

/** @throws Failure VALIDATION_FAILED unless every key is a public one that an assertion can be checked with. */
export function mustBePublicKeys(jwks: JSONWebKeySet): void {
  const problems =
    isObject(jwks) && Array.isArray(jwks.keys) && jwks.keys.length > 0
      ? jwks.keys.flatMap(problem)
      : ['The key set contains no keys.']
  if (problems.length > 0) throw new Failure('VALIDATION_FAILED', problems.join(' '))
}

/** Those of a set's keys that an assertion can be checked with. */
export const publicKeysAmong = (keys: readonly JsonObject[]): JSONWebKeySet['keys'] =>
  keys.filter((each): each is JsonObject & JWK => problem(each, 0).length === 0)

function problem(jwk: unknown, at: number): string[] {
  if (!isObject(jwk)) return [`Key ${at + 1} is not an object.`]
  const name = `Key ${jwk['kid'] ?? at + 1}`
  if ('d' in jwk || 'k' in jwk) return [`${name} is a private key: send only the public key.`]
  if (jwk['kty'] === 'EC' && jwk['crv'] !== 'P-384') return [`${name} must be on the curve P-384 (ES384).`]
  if (jwk['kty'] !== 'EC' && jwk['kty'] !== 'RSA') return [`${name} must be an RSA or EC P-384 key.`]
  try {
    const bits = createPublicKey({ key: jwk as never, format: 'jwk' }).asymmetricKeyDetails?.modulusLength
    return bits === undefined || bits >= 2048 ? [] : [`${name} has ${bits} bits: RSA keys need at least 2048.`]
  } catch {
    return [`${name} cannot be read.`]
  }
}
