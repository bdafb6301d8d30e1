// Who is asking, and what that caller may do.
import type { Interaction, Principal } from '../store/session.ts'
import { byConsent } from './consent/visibility.ts'
import { grants } from './scopes.ts'

/** A client, and what a token of it says. */
export interface Identified {
  readonly clientId: string
  readonly organizationId: string
  /** The scopes of the token, in the order granted. */
  readonly scopes: readonly string[]
  /** True for the record-keeping system itself: what it reads is not filtered by consent. */
  readonly consentExempt: boolean
  /** `jti` of the access token; empty for who came without one. */
  readonly tokenId?: string
  /** What the data is asked for, a code of v3-ActReason, if that is said. */
  readonly purpose?: string
}

/** The client behind a request, as its token or its credentials prove it. */
export interface Caller extends Principal, Required<Identified> {
  /** True if the scopes open the interaction on the resource type. */
  may(type: string, interaction: Interaction): boolean
  has(scope: string): boolean
}

/** Builds a caller; equal scope lists share one table of permissions. */
export function createCaller(client: Identified): Caller {
  const { clientId, organizationId, scopes, consentExempt, tokenId = '', purpose = '' } = client
  const permitted = grants(scopes)
  const owned = new Set(scopes)
  return {
    clientId,
    organizationId,
    scopes,
    consentExempt,
    tokenId,
    purpose,
    author: clientId,
    visibility: consentExempt ? undefined : byConsent({ clientId, organizationId, purpose }),
    may: permitted,
    has: scope => owned.has(scope),
  }
}

/**
 * The service acting for a caller, in the caller's name and transaction and before the same witness, with these interactions
 * on these types and no others; consent is not asked, so what it reads is shown only where an operation says so.
 */
export function onBehalfOf<Of extends Caller>(caller: Of, opens: Readonly<Record<string, string>>): Of {
  const may = (type: string, interaction: Interaction) => opens[type]?.includes(interaction) ?? false
  return { ...caller, visibility: undefined, may }
}

/** The service itself: loader, demo data, background work. */
export const system: Caller = {
  ...createCaller({
    clientId: 'health-interop',
    organizationId: 'health-interop',
    scopes: ['system/*.cruds'],
    consentExempt: true,
  }),
  author: undefined,
}
