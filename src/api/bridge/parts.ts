// What the operations for Bridge agents work with.
import type { Bell } from '../../bridge/bell.ts'
import type { OfferParts } from '../../bridge/offer.ts'

export interface BridgeParts extends OfferParts {
  /** Of the service, and of the agent that is released with it. */
  readonly version: string
  /** Wakes agents that wait for commands. */
  readonly bell: Bell
}
