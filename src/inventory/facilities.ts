// The facilities that an organisation may report for: itself, its parts, and the locations that it manages.

import type { Caller } from '../access/caller.ts'
import type { Base } from '../store/base.ts'
import { type Registered, speakerFor } from '../store/owners/speaking.ts'
import type { DatabaseFor } from '../store/principal.ts'

/** What it takes to ask whose facilities are. */
export interface FacilityParts {
  readonly databaseFor: DatabaseFor
  readonly registered: Registered
  readonly addresses: { readonly base: Base }
}

/** The type of each facility, by its id; a facility that is absent is not the caller's. */
export type Facilities = ReadonlyMap<string, 'Organization' | 'Location'>

/**
 * Those of the facilities that the caller's organisation speaks for (store/owners/speaking.ts). Of an id that an
 * Organization and a Location share, both must be its own; it counts as that of the Organization.
 */
export async function ownFacilities(
  { databaseFor, registered, addresses: { base } }: FacilityParts,
  caller: Caller,
  facilities: Iterable<string>,
): Promise<Facilities> {
  const { organizationId: own } = caller
  const asked = new Set(facilities)
  const ground = { on: databaseFor(caller), registered, base }
  const speaker = await speakerFor(
    ground,
    own,
    [...asked].filter(id => id !== own),
  )
  const kindOf = (id: string): 'Organization' | 'Location' => {
    const { isRegistered, organization, location } = speaker.known(id)
    return location && !organization && !isRegistered ? 'Location' : 'Organization'
  }
  return new Map([...asked].filter(speaker.facility).map(id => [id, kindOf(id)]))
}
