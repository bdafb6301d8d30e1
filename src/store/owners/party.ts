// The organisation for which a caller writes resources that are about no patient.
import type { Party } from '../principal.ts'

/** The column `owner` of what the service itself, or a package that it loads, has stored. */
export const service = ''

/**
 * Returns the organisation whose resources are the only ones that a caller may change; undefined: all, as for exempt clients and
 * the service. Empty: none.
 */
export const boundTo = (party: Party): string | undefined => (party.ends === 'all' ? undefined : party.organizationId)

/** The column `owner` of what a caller creates: an organisation, `service`, or null for exempt clients. */
export function ownerFor(party: Party): string | null {
  return party.isService ? service : boundTo(party) || null
}
