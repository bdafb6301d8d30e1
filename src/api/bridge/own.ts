// The agent that a body names must be the one that sends it.
import type { AgentCaller } from '../../access/caller.ts'
import { Failure } from '../../lib/failure.ts'

/** @throws Failure FORBIDDEN naming the member that is another's. */
export function mustBeOwn(
  { clientId, facilityId }: AgentCaller,
  { agent_id, facility_id }: { readonly agent_id: string; readonly facility_id: string },
): void {
  const field = agent_id !== clientId ? 'agent_id' : facility_id !== facilityId ? 'facility_id' : undefined
  if (field === undefined) return
  throw new Failure('FORBIDDEN', `${field} is not that of the agent whose key the request carries.`, {
    details: [{ field, code: 'forbidden', message: 'is not that of this agent' }],
  })
}
