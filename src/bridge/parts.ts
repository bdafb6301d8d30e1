// What the work for agents is done with.
import type { AgentCaller } from '../access/caller.ts'
import type { Log } from '../lib/log.ts'
import type { Mappings } from '../mapping/mappings.ts'
import type { ResolveParts } from '../patients/resolve.ts'
import type { Registered } from '../store/owners/speaking.ts'
import type { IsNewer } from './places.ts'

export interface BridgeParts extends ResolveParts {
  readonly registered: Registered
  readonly log: Log
  /** The maps that are live, those of HL7 v2 messages among them. */
  readonly mappings: Pick<Mappings, 'set'>
  /** Of times without an offset, by its IANA name. */
  readonly timeZone: string
}

/** A request of an agent. */
export interface AgentCall {
  readonly caller: AgentCaller
  readonly requestId: string
  /** Of an item that was refused before. */
  readonly isNewer?: IsNewer
}
