// A short access token with which a user of the portal tries calls as a client of the organisation. The audit trail has who asked for it, and
// the id by which each access with it names it.
import { isAdministrator, type UserCaller } from '../access/caller.ts'
import { covers, firstSpelling, riskOf, unknownScopes } from '../access/scopes.ts'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import { asAct } from '../store/recording.ts'
import { clientSeenBy } from './client-rights.ts'
import type { Client } from './clients.ts'
import { newTokenId, type Tokens } from './tokens.ts'

/** Seconds that it lives. */
export const consoleTokenLifetime = 900

export interface ConsoleTokenParts {
  readonly database: Database
  readonly tokens: Pick<Tokens, 'mint'>
}

export interface ConsoleToken {
  readonly token: string
  readonly scopes: readonly string[]
}

/**
 * Returns a token of a client, with no more rights than the client has, and none that the user may not give it.
 * @param wanted scopes; none: all of the client but those of critical risk
 * @param path the address by which the user asks
 * @throws Failure NOT_FOUND for a client of another organisation; FORBIDDEN for one that consent does not bind and for scopes of critical
 * risk, except for administrators; CONFLICT for one that is revoked; VALIDATION_FAILED for scopes that the client does not have.
 */
export async function consoleToken(
  { database, tokens }: ConsoleTokenParts,
  { user, path }: { readonly user: UserCaller; readonly path: string },
  clientId: string,
  wanted: readonly string[],
): Promise<ConsoleToken> {
  const client = await clientSeenBy(database, user, clientId)
  if (client.revokedAt) throw new Failure('CONFLICT', 'This client is revoked.')
  const scopes = scopesOf(client, wanted)
  mustBeAllowed(user, client, scopes)
  const id = newTokenId()
  const { organizationId, consentExempt } = client
  const token = await tokens.mint({ clientId, organizationId, consentExempt }, scopes, {
    id,
    lifetime: consoleTokenLifetime,
  })
  const query = `${path}?${new URLSearchParams({ client: clientId, scopes: scopes.join(' '), token: id })}`
  await asAct(database, user, { deed: 'operation', query, patients: [], resources: 0 }, async () => true)
  return { token, scopes }
}

const isCritical = (scope: string): boolean => riskOf(scope) === 'Critical'

/** @throws Failure VALIDATION_FAILED naming each scope that is none, or that the client does not have. */
function scopesOf({ scopes: held }: Client, wanted: readonly string[]): readonly string[] {
  const asked = [...new Set(wanted.map(firstSpelling))]
  const unknown = unknownScopes(asked)
  if (unknown) throw new Failure('VALIDATION_FAILED', unknown)
  const missing = asked.filter(name => !covers(held, name))
  if (missing.length > 0)
    throw new Failure('VALIDATION_FAILED', `The client does not have the scope ${missing.join(' ')}.`)
  const scopes = asked.length > 0 ? asked : held.filter(name => !isCritical(name))
  if (scopes.length > 0) return scopes
  throw new Failure('VALIDATION_FAILED', 'Name a scope: the client has scopes of critical risk only.')
}

/** @throws Failure FORBIDDEN */
function mustBeAllowed(user: UserCaller, { consentExempt }: Client, scopes: readonly string[]): void {
  if (isAdministrator(user)) return
  if (consentExempt) throw new Failure('FORBIDDEN', 'Only administrators try calls as a client that needs no consent.')
  const critical = scopes.filter(isCritical).join(', ')
  if (critical !== '')
    throw new Failure('FORBIDDEN', `Only administrators try calls with scopes of critical risk: ${critical}.`)
}
