// What the operations for Bridge agents work with.
import type { Bell } from '../../bridge/bell.ts'
import type { BridgeParts as Parts } from '../../bridge/parts.ts'

export interface BridgeParts extends Parts {
  /** Wakes agents that wait for commands. */
  readonly bell: Bell
}
