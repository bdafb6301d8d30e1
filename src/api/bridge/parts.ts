// What the operations for Bridge agents work with.
import type { Bell } from '../../bridge/bell.ts'
import type { OfferParts } from '../../bridge/offer.ts'

export interface BridgeParts extends OfferParts {
  /** Wakes agents that wait for commands. */
  readonly bell: Bell
}
