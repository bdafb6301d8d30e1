// npm run admin -- agent …: Bridge agents and their keys.
import { type AgentReport, agentReports } from '../../bridge/report.ts'
import { type Agent, createAgent, revokeAgent, rotateKey } from '../../identity/agents.ts'
import type { CommandResult } from '../../lib/command.ts'
import { type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'
import { duration } from './duration.ts'

const once = 'The key is shown only once: the service stores only its hash.\n'

export const agentCreate: AdminCommand = {
  name: 'agent create',
  usage: '--name NAME --facility ID [--organization ID]',
  summary: 'Create a Bridge agent and show its id and key once',
  details: 'The agent sends them as X-Bridge-Agent-ID and X-Bridge-Agent-Key.',
  options: {
    name: { value: 'NAME', meaning: 'the name of the agent' },
    facility: { value: 'ID', meaning: 'the id of the facility that the agent serves, an Organization or a Location' },
    organization: {
      value: 'ID',
      meaning: 'the id of the organisation that its records belong to (default: the facility)',
    },
  },
  async run(call) {
    mustBeNone(call)
    const { agent, key } = await createAgent(call.database, {
      name: needed(call, 'name'),
      facilityId: needed(call, 'facility'),
      organizationId: call.text('organization') ?? needed(call, 'facility'),
    })
    return credentials(agent.id, key, plain(agent))
  },
}

export const agentList: AdminCommand = {
  name: 'agent list',
  usage: '',
  summary: 'List all Bridge agents with their state, without their keys',
  details:
    'An agent is offline if it was silent for three heartbeats (180 s). lag is the age of the oldest item in its queue.',
  options: {},
  async run(call) {
    mustBeNone(call)
    const reports = await agentReports(call.database, new Date())
    const all = reports.map(report => ({ agent: report.agent, state: stateOf(report) }))
    return {
      isGood: true,
      text: all.map(({ agent, state }) => described(agent, state)).join('\n') || 'There are no agents.\n',
      json: { agents: all.map(({ agent, state }) => ({ ...plain(agent), ...state })) },
    }
  },
}

export const agentRotateKey: AdminCommand = {
  name: 'agent rotate-key',
  usage: 'ID [--overlap 24h]',
  summary: 'Rotate the key of a Bridge agent and show the new one once',
  details: 'The previous key remains valid for the overlap; older keys end immediately.',
  options: { overlap: { value: 'TIME', meaning: '30m, 24h, up to 7d; 0 ends the old key immediately (default 24h)' } },
  async run(call) {
    const id = theOne(call, 'agent')
    const overlap = duration(call.text('overlap') ?? '24h', 604_800)
    return credentials(id, await rotateKey(call.database, id, overlap), { overlap_seconds: overlap })
  },
}

export const agentRevoke: AdminCommand = {
  name: 'agent revoke',
  usage: 'ID',
  summary: 'Revoke a Bridge agent permanently: its keys stop working immediately',
  details: '',
  options: {},
  async run(call) {
    const id = theOne(call, 'agent')
    await revokeAgent(call.database, id)
    return { isGood: true, text: `Revoked ${id}.\n`, json: { agent_id: id, revoked: true } }
  },
}

function credentials(id: string, key: string, more: object): CommandResult {
  const rows = [
    ['agent_id', id],
    ['agent_key', key],
  ] as const
  return { isGood: true, text: listing(rows), notes: once, json: { agent_id: id, agent_key: key, ...more } }
}

const plain = (agent: Agent) => ({
  agent_id: agent.id,
  name: agent.name,
  facility_id: agent.facilityId,
  organization_id: agent.organizationId,
  created_at: agent.createdAt,
  rotated_at: agent.rotatedAt ?? null,
  revoked_at: agent.revokedAt ?? null,
})

/** Returns what an agent last reported, for the list. */
function stateOf({ status, lag, state, failedCommands }: AgentReport): Record<string, unknown> {
  return {
    status,
    last_seen_at: state?.lastSeenAt ?? null,
    version: state?.version ?? null,
    clock_skew_seconds: state?.skew ?? null,
    acked_through_seq: state?.acked ?? 0,
    skipped: state?.skipped ?? 0,
    lag_seconds: lag,
    queue: state?.queue ? { ...state.queue, oldestAt: undefined, oldest_at: state.queue.oldestAt ?? null } : null,
    failing_task: state?.failingTask ?? null,
    failed_commands: failedCommands,
    warnings: state?.warnings ?? [],
    config_version: state?.configVersion ?? 0,
  }
}

const shown = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

const described = (agent: Agent, { queue, warnings, ...state }: Record<string, unknown>): string =>
  listing([
    ['agent_id', agent.id],
    ['name', agent.name],
    ['facility', agent.facilityId],
    ['created', agent.createdAt.toISOString()],
    ...Object.entries(state).map(
      ([name, value]) => [name.replaceAll('_', ' '), value === null ? '-' : shown(value)] as const,
    ),
    ...Object.entries((queue as object | null) ?? {}).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[`queue ${name.replaceAll('_', ' ')}`, shown(value)] as const],
    ),
    ...((warnings as readonly string[]) ?? []).map(each => ['warning', each] as const),
    ...(agent.rotatedAt ? [['key rotated', agent.rotatedAt.toISOString()] as const] : []),
    ...(agent.revokedAt ? [['revoked', agent.revokedAt.toISOString()] as const] : []),
  ])
