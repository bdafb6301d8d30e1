// How the agents are, from what they last said: for administrators and users of the portal.
import type { Queryable } from '../db/statement.ts'
import { type Agent, listAgents } from '../identity/agents.ts'
import { type AgentState, agentStates } from './state.ts'

export interface AgentReport {
  readonly agent: Agent
  readonly status: 'online' | 'offline' | 'never seen' | 'revoked'
  /** Age in seconds of the oldest item in its queue; 0: the queue is empty. */
  readonly lag: number
  /** What it last said; undefined: nothing yet. */
  readonly state: AgentState | undefined
  /** Commands that failed and were not repeated. */
  readonly failedCommands: number
}

/** Milliseconds of silence after which an agent is offline: three heartbeats. */
const silentFor = 180_000

/** Returns a report of every agent, the oldest agent first. @param organization only the agents that write for it */
export async function agentReports(on: Queryable, now: Date, organization?: string): Promise<AgentReport[]> {
  const [agents, states, failed] = [await listAgents(on), await agentStates(on), await failedCommands(on)]
  return agents
    .filter(each => organization === undefined || each.organizationId === organization)
    .map(agent => {
      const state = states.get(agent.id)
      const oldest = state?.queue?.oldestAt
      return {
        ...{ agent, state, status: statusOf(agent, state, now), failedCommands: failed.get(agent.id) ?? 0 },
        lag: oldest ? Math.max(0, Math.round((now.getTime() - oldest.getTime()) / 1000)) : 0,
      }
    })
}

function statusOf({ revokedAt }: Agent, state: AgentState | undefined, now: Date): AgentReport['status'] {
  if (revokedAt) return 'revoked'
  const seen = state?.lastSeenAt
  if (seen === undefined) return 'never seen'
  return now.getTime() - seen.getTime() < silentFor ? 'online' : 'offline'
}

async function failedCommands(on: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await on.query<{ agent_id: string; count: number }>({
    text: `select agent_id, count(*)::int as count from bridge_command where status = 'failed' group by agent_id`,
    values: [],
  })
  return new Map(rows.map(({ agent_id, count }) => [agent_id, count]))
}
