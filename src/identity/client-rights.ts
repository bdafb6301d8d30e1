// What a user of the portal may do with integration clients: see those of the organisation, grant scopes by their risk, and change credentials.
import { isAdministrator, ownOrganization, type UserCaller } from '../access/caller.ts'
import { riskOf } from '../access/scopes.ts'
import type { Database } from '../db/database.ts'
import type { Environment } from '../lib/config.ts'
import { Failure } from '../lib/failure.ts'
import { asAct } from '../store/recording.ts'
import { type Client, createClient, knownScopes, type ListedClient, listClients, newClientId } from './clients.ts'

/** Returns the clients that a user sees, oldest first: those of the organisation, or for administrators all. */
export const clientsSeenBy = (
  database: Database,
  user: UserCaller,
  page: { readonly after?: string; readonly limit: number },
): Promise<ListedClient[]> => listClients(database, { ...page, organizationId: ownOrganization(user) })

/** Returns one of these. @throws Failure NOT_FOUND, for another organisation's as for one that does not exist */
export async function clientSeenBy(database: Database, user: UserCaller, id: string): Promise<ListedClient> {
  const [found] = await listClients(database, { id, organizationId: ownOrganization(user) })
  if (found) return found
  throw new Failure('NOT_FOUND', 'Your organisation has no such client.')
}

/** True for a scope that administrators alone grant. */
export const isGuarded = (scope: string): boolean => ['High', 'Critical'].includes(riskOf(scope))

/** True if the user may give the client new secrets or keys; for a client that needs no consent, or overrides it, administrators may. */
export const mayChangeCredentials = (user: UserCaller, { consentExempt, scopes }: Client): boolean =>
  isAdministrator(user) || !(consentExempt || scopes.some(each => riskOf(each) === 'Critical'))

/** Returns the client if the user may give it new secrets or keys. @throws Failure NOT_FOUND, FORBIDDEN */
export async function clientToChange(database: Database, user: UserCaller, id: string): Promise<ListedClient> {
  const client = await clientSeenBy(database, user, id)
  if (mayChangeCredentials(user, client)) return client
  throw new Failure('FORBIDDEN', 'Only administrators change the credentials of this client.')
}

export interface ClientWish {
  readonly name: string
  readonly organizationId: string
  readonly scopes: readonly string[]
  /** Why it gets scopes of high risk. */
  readonly reason: string
  /** False for a client that only signs assertions. */
  readonly hasSecret: boolean
}

/** The least that counts as a reason, in characters. */
const shortestReason = 10

/**
 * Creates a client that a user asks for. The audit trail keeps its scopes, and the reason for those of high risk.
 * @param path the address by which the user asks.
 * @throws Failure FORBIDDEN for scopes of high risk or another organisation, except for administrators; VALIDATION_FAILED for no scope,
 * unknown ones, or high risk without a reason.
 */
export async function createClientFor(
  database: Database,
  environment: Environment,
  { user, path }: { readonly user: UserCaller; readonly path: string },
  wish: ClientWish,
): Promise<{ client: Client; secret: string | undefined }> {
  const scopes = grantedTo(user, wish)
  const id = newClientId()
  const { name, organizationId, hasSecret } = wish
  const facts = {
    ...{ client: id, organization: organizationId, scopes: scopes.join(' ') },
    ...(scopes.some(isGuarded) && { reason: wish.reason.trim() }),
  }
  const query = `${path}?${new URLSearchParams(facts)}`
  let made: Awaited<ReturnType<typeof createClient>> | undefined
  await asAct(database, user, { deed: 'operation', query, patients: [], resources: 0 }, async within => {
    made = await createClient(within, environment, {
      ...{ id, name, organizationId, scopes },
      ...(!hasSecret && { secret: null }),
    })
    return true
  })
  return made!
}

/** @throws Failure FORBIDDEN, VALIDATION_FAILED */
function grantedTo(user: UserCaller, { organizationId, scopes: named, reason }: ClientWish): string[] {
  if (organizationId !== user.organizationId && !isAdministrator(user))
    throw new Failure('FORBIDDEN', 'Only administrators create clients for other organisations.')
  const scopes = knownScopes(named)
  if (scopes.length === 0) throw new Failure('VALIDATION_FAILED', 'Choose at least one scope.')
  const guarded = scopes.filter(isGuarded).join(', ')
  if (guarded !== '' && !isAdministrator(user))
    throw new Failure('FORBIDDEN', `Only administrators grant these scopes of high risk: ${guarded}.`)
  if (guarded !== '' && reason.trim().length < shortestReason)
    throw new Failure(
      'VALIDATION_FAILED',
      `State a reason of at least ${shortestReason} characters for these scopes of high risk: ${guarded}.`,
    )
  return scopes
}
