// Who is asking, and what that caller may do.
import type { Interaction, Principal } from '../store/session.ts'
import { grants } from './scopes.ts'

/** The client behind a request, as its token or its credentials prove it. */
export interface Caller extends Principal {
  readonly clientId: string
  readonly organizationId: string
  /** The scopes of the token, in the order granted. */
  readonly scopes: readonly string[]
  /** `jti` of the access token; empty for who came without one. */
  readonly tokenId: string
  /** True if the scopes open the interaction on the resource type. */
  may(type: string, interaction: Interaction): boolean
  has(scope: string): boolean
}

/** Builds a caller; equal scope lists share one table of permissions. */
export function createCaller(
  clientId: string,
  organizationId: string,
  scopes: readonly string[],
  tokenId = '',
): Caller {
  const permitted = grants(scopes)
  const owned = new Set(scopes)
  return { clientId, organizationId, scopes, tokenId, author: clientId, may: permitted, has: scope => owned.has(scope) }
}

/**
 * The service acting for a caller, in the caller's name and transaction and before the same witness, with these interactions
 * on these types and no others; consent is not asked, so what it reads is shown only where an operation says so.
 */
export function onBehalfOf<Of extends Caller>(caller: Of, opens: Readonly<Record<string, string>>): Of {
  return { ...caller, may: (type: string, interaction: Interaction) => opens[type]?.includes(interaction) ?? false }
}

/** The service itself: loader, demo data, background work. */
export const system: Caller = {
  ...createCaller('health-interop', 'health-interop', ['system/*.cruds']),
  author: undefined,
}
