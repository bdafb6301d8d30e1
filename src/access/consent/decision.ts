// What a client could see of a patient's resources of one type now, and why: from the grants that every read is decided by.
import type { Queryable } from '../../db/statement.ts'
import { hash64 } from '../../lib/hash.ts'
import { grants } from '../scopes.ts'
import { openingOf, type TypeOpening } from './opened.ts'
import { refusal } from './refusal.ts'

/** The client in question. */
export interface Asking {
  readonly organizationId: string
  /** All that it may be given. */
  readonly scopes: readonly string[]
  readonly consentExempt: boolean
  readonly isRevoked: boolean
}

export interface Decision extends TypeOpening {
  /** What decides: the client itself, its scopes, its exemption, a consent, or that there is none, or no longer. */
  readonly reason: 'client_revoked' | 'scope' | 'exempt' | 'consent' | 'required' | 'revoked' | 'expired'
}

const none = { extent: 'none', consents: [] } as const
const reasons: Readonly<Record<string, Decision['reason']>> = { CONSENT_REVOKED: 'revoked', CONSENT_EXPIRED: 'expired' }

/**
 * Returns the decision for a purpose (a code of v3-ActReason). What the client wrote itself it sees in any case, and in an
 * emergency it can break the glass: neither is considered here.
 */
export async function decide(
  on: Queryable,
  client: Asking,
  purpose: string,
  patient: string,
  type: string,
): Promise<Decision> {
  if (client.isRevoked) return { ...none, reason: 'client_revoked' }
  const may = grants(client.scopes)
  if (!may(type, 'r') && !may(type, 's')) return { ...none, reason: 'scope' }
  if (client.consentExempt) return { extent: 'all', consents: [], reason: 'exempt' }
  const { organizationId } = client
  const opening = await openingOf(on, { organizationId, purpose }, patient, type)
  if (opening.extent !== 'none') return { ...opening, reason: 'consent' }
  const { code } = await refusal(on, hash64(`Patient/${patient}`), organizationId)
  return { ...none, reason: reasons[code] ?? 'required' }
}
