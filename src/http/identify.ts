// Identifies the sender of a request: authenticated by the scheme of its route, counted, and holding a scope that opens
// it.

import type { Asker } from '../access/caller.ts'
import type { Authenticators, Credentials, Proofs, ProvingScheme, Scheme } from '../access/scheme.ts'
import { Failure } from '../lib/failure.ts'
import type { Limits, RateLimitState } from './limits.ts'
import type { Route } from './route.ts'

/** Schemes that need no body: the body of an unauthenticated or rate-limited request is never read. */
export const byHeaders: ReadonlySet<Scheme> = new Set(['open', 'bearer', 'patient', 'session', 'agent'])

export interface IdentifyParts {
  readonly authenticate: Authenticators
  readonly limits: Limits
}

/** What becomes known on the way, also where the request ends there. */
export interface Identification {
  caller?: Asker
  verdicts?: readonly RateLimitState[]
}

/**
 * Returns the caller, or undefined on an open route.
 * @throws Failure as the scheme, RATE_LIMITED, INSUFFICIENT_SCOPE
 */
export async function identify(
  parts: IdentifyParts,
  { access, limit }: Route,
  credentials: Credentials,
  seen: Identification,
): Promise<Proofs[Scheme]> {
  if (access.scheme === 'open') {
    seen.verdicts = parts.limits.take(`address ${credentials.remoteAddress}`, limit)
    return undefined
  }
  const caller = await authenticated(parts, access.scheme, credentials, seen)
  seen.caller = caller
  seen.verdicts = parts.limits.take(`client ${caller.clientId}`, limit)
  if (access.scopes.length > 0 && !access.scopes.some(scope => caller.has(scope))) {
    const wanted = access.scopes.join(' or ')
    throw new Failure(
      'INSUFFICIENT_SCOPE',
      `This operation requires the scope ${wanted}: request it with the access token, or have it added to the client.`,
      {
        headers: {
          'www-authenticate': `Bearer realm="health-interop", error="insufficient_scope", scope="${access.scopes.join(' ')}"`,
        },
      },
    )
  }
  return caller
}

/** A caller that fails to authenticate is counted by address, so that guessing tokens is bounded too. */
async function authenticated(
  parts: IdentifyParts,
  scheme: ProvingScheme,
  credentials: Credentials,
  seen: Identification,
): Promise<Proofs[ProvingScheme]> {
  try {
    return await parts.authenticate[scheme](credentials)
  } catch (error) {
    seen.verdicts = parts.limits.take(`address ${credentials.remoteAddress}`)
    throw error
  }
}
