// Access tokens: RS256 JWTs as RFC 9068 requires, minted and verified here. A verified token is cached.
import type { JWTPayload } from 'jose'
import * as errors from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { type Caller, createCaller, type Identified } from '../access/caller.ts'
import { Failure } from '../lib/failure.ts'
import { randomText } from '../lib/ids.ts'
import type { Keys } from './keys.ts'
import type { Revocations } from './revocations.ts'

/** Seconds that a token lives (interface §8). */
export const tokenLifetime = 3600

/** The claims of a token (RFC 9068 §2.2), with the organisation and the environment. */
interface Claims {
  readonly iss: string
  readonly aud: string
  readonly sub: string
  readonly client_id: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
  readonly scope: string
  readonly organization_id: string
  readonly env: string
  /** True for the record-keeping system itself, which consent does not filter. */
  readonly consent_exempt?: boolean
}

interface TokenTerms {
  /** `jti`. */
  readonly id?: string
  /** Seconds that it lives, an hour at most. */
  readonly lifetime?: number
}

export const newTokenId = (): string => randomText(22)

export interface Verified {
  readonly claims: Claims
  readonly caller: Caller
}

export interface Tokens {
  /** Mints a token for the client with these of its scopes. @param terms absent: a new id, and an hour */
  mint(
    client: Pick<Identified, 'clientId' | 'organizationId' | 'consentExempt'>,
    scopes: readonly string[],
    terms?: TokenTerms,
  ): Promise<string>
  /**
   * Returns what a token proves; synchronously for one that was verified before.
   * @throws Failure TOKEN_EXPIRED, TOKEN_INVALID; UNAVAILABLE when revocations cannot be known.
   */
  verify(token: string): Verified | Promise<Verified>
}

export interface TokensOptions {
  readonly keys: Keys
  readonly revocations: Revocations
  /** False while revocations may be unknown here. */
  readonly isCurrent: () => boolean
  /** Issuer and audience: the service's own address. */
  readonly issuer: string
  readonly environment: string
  readonly now: () => number
  /** Tokens of one generation. */
  readonly generation?: number
}

export function createTokens(options: TokensOptions): Tokens {
  const { keys, revocations, isCurrent, issuer, environment, now, generation = 5000 } = options
  // Two generations: used tokens are carried over, unused ones are dropped, and a hit costs one lookup.
  let recent = new Map<string, Verified>()
  let older = new Map<string, Verified>()
  const remember = (token: string, verified: Verified) => {
    if (recent.size >= generation) [older, recent] = [recent, new Map()]
    recent.set(token, verified)
  }

  function stillGood(verified: Verified): Verified {
    const { exp, jti, client_id } = verified.claims
    if (exp * 1000 <= now()) throw expired()
    if (revocations.has(jti, client_id)) throw invalid('it was revoked')
    if (!isCurrent())
      throw new Failure('UNAVAILABLE', 'The revocation list is temporarily unavailable: try again.', {
        retryAfter: 2,
      })
    return verified
  }

  async function verifyAnew(token: string): Promise<Verified> {
    const claims = await read(token, options)
    const verified = { claims, caller: callerOf(claims) }
    remember(token, verified)
    return stillGood(verified)
  }

  return {
    mint({ clientId, organizationId, consentExempt }, scopes, { id = newTokenId(), lifetime = tokenLifetime } = {}) {
      const { kid, privateKey } = keys.active()
      const iat = Math.floor(now() / 1000)
      const claims: Claims = {
        iss: issuer,
        aud: issuer,
        sub: clientId,
        client_id: clientId,
        iat,
        exp: iat + Math.min(lifetime, tokenLifetime),
        jti: id,
        scope: scopes.join(' '),
        organization_id: organizationId,
        env: environment,
        ...(consentExempt ? { consent_exempt: true } : {}),
      }
      const payload = claims as unknown as JWTPayload
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid }).sign(privateKey)
    },
    verify(token) {
      const hit = recent.get(token)
      if (hit) return stillGood(hit)
      const old = older.get(token)
      if (!old) return verifyAnew(token)
      remember(token, old)
      return stillGood(old)
    },
  }
}

const callerOf = (claims: Claims): Caller =>
  createCaller({
    clientId: claims.client_id,
    organizationId: claims.organization_id,
    scopes: claims.scope.split(' ').filter(Boolean),
    consentExempt: claims.consent_exempt === true,
    tokenId: claims.jti,
  })

const required = ['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti', 'scope', 'organization_id']
const longest = 16_384

// The algorithm and the type are ours to choose, not the token's (RFC 8725 §3.1, §3.11).
async function read(token: string, { keys, issuer, now }: TokensOptions): Promise<Claims> {
  if (token.length > longest) throw invalid('it is too long')
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? undefined : await keys.find(kid)
        if (!key) throw invalid('it was signed with an unknown key')
        return key
      },
      {
        algorithms: ['RS256'],
        typ: 'at+jwt',
        issuer,
        audience: issuer,
        requiredClaims: required,
        currentDate: new Date(now()),
      },
    )
    return payload as unknown as Claims
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw expired()
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalid(reason(error), error)
    throw error
  }
}

function reason(error: Error): string {
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim ${error.claim} is missing or wrong`
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'it is not signed with RS256'
  return 'it was not issued by this service'
}

function expired(): Failure {
  return new Failure('TOKEN_EXPIRED', 'The access token has expired: request a new one.')
}

function invalid(why: string, cause?: unknown): Failure {
  return new Failure('TOKEN_INVALID', `The access token is not valid: ${why}.`, { cause })
}
