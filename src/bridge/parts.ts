// What the work for agents is done with.
import type { AgentCaller } from '../access/caller.ts'
import type { Log } from '../lib/log.ts'
import type { ResolveParts } from '../patients/resolve.ts'
import type { Registered } from '../store/owners/speaking.ts'

export interface BridgeParts extends ResolveParts {
  readonly registered: Registered
  readonly log: Log
}

/** A request of an agent. */
export interface AgentCall {
  readonly caller: AgentCaller
  readonly requestId: string
}
