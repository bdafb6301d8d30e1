// npm run admin -- agent …: Bridge agents and their keys.
import { type Agent, createAgent, listAgents, revokeAgent, rotateKey } from '../../identity/agents.ts'
import type { CommandResult } from '../../lib/command.ts'
import { type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'
import { duration } from './duration.ts'

const once = 'The key is shown only once: the service stores only its hash.\n'

export const agentCreate: AdminCommand = {
  name: 'agent create',
  usage: '--name NAME --facility ID',
  summary: 'Create a Bridge agent and show its id and key once',
  details: 'The agent sends them as X-Bridge-Agent-ID and X-Bridge-Agent-Key.',
  options: {
    name: { value: 'NAME', meaning: 'the name of the agent' },
    facility: { value: 'ID', meaning: 'the facility that the agent serves' },
  },
  async run(call) {
    mustBeNone(call)
    const { agent, key } = await createAgent(call.database, {
      name: needed(call, 'name'),
      facilityId: needed(call, 'facility'),
    })
    return credentials(agent.id, key, plain(agent))
  },
}

export const agentList: AdminCommand = {
  name: 'agent list',
  usage: '',
  summary: 'List all Bridge agents, without their keys',
  details: '',
  options: {},
  async run(call) {
    mustBeNone(call)
    const agents = await listAgents(call.database)
    return {
      isGood: true,
      text: agents.map(described).join('\n') || 'There are no agents.\n',
      json: { agents: agents.map(plain) },
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
  created_at: agent.createdAt,
  rotated_at: agent.rotatedAt ?? null,
  revoked_at: agent.revokedAt ?? null,
})

const described = (agent: Agent): string =>
  listing([
    ['agent_id', agent.id],
    ['name', agent.name],
    ['facility', agent.facilityId],
    ['created', agent.createdAt.toISOString()],
    ...(agent.rotatedAt ? [['key rotated', agent.rotatedAt.toISOString()] as const] : []),
    ...(agent.revokedAt ? [['revoked', agent.revokedAt.toISOString()] as const] : []),
  ])
