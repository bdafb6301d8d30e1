// What the pages about Bridge agents work with, and whose agents a user sees.
import { ownOrganization, type UserCaller } from '../../../access/caller.ts'
import { type AgentReport, agentReports } from '../../../bridge/report.ts'
import type { Database } from '../../../db/database.ts'
import { Failure } from '../../../lib/failure.ts'

export interface AgentPageParts {
  readonly database: Database
  readonly now: () => Date
  /** By which times are view, by its IANA name. */
  readonly timeZone: string
}

/** Returns the agents that a user sees: those of the user's organisation, or for administrators all. */
export const reportsFor = ({ database, now }: AgentPageParts, caller: UserCaller): Promise<AgentReport[]> =>
  agentReports(database, now(), ownOrganization(caller))

/** Returns one of these. @throws Failure NOT_FOUND, for another organisation's as for one that does not exist */
export async function reportFor(parts: AgentPageParts, caller: UserCaller, id: string): Promise<AgentReport> {
  const found = (await reportsFor(parts, caller)).find(({ agent }) => agent.id === id)
  if (found) return found
  throw new Failure('NOT_FOUND', 'Your organisation has no such Bridge agent.')
}
