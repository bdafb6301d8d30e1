// For whom a caller writes what is about nobody.
import type { Party } from '../principal.ts'

/** The column `owner` of what the service itself, or a package that it loads, has stored. */
export const service = ''

/**
 * The organisation whose things alone a caller changes; undefined: everybody's, as exempt clients and the service do. Empty: nobody's.
 */
export const boundTo = (party: Party): string | undefined => (party.ends === 'all' ? undefined : party.organizationId)

/** The column `owner` of what a caller creates: an organisation, `service`, or null for exempt clients. */
export function ownerFor(party: Party): string | null {
  return party.isService ? service : boundTo(party) || null
}
