// npm run admin -- agent …: Bridge agents and their keys.
import { type Agent, createAgent, listAgents, revokeAgent, rotateKey } from '../../identity/agents.ts'
import type { CommandResult } from '../../lib/command.ts'
import { type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'
import { duration } from './duration.ts'

const once = 'The key is shown this once: only a hash of it is kept.\n'

export const agentCreate: AdminCommand = {
  name: 'agent create',
  usage: '--name NAME --facility ID',
  summary: 'Creates a Bridge agent, and shows its id and key once',
  details: 'The agent sends them as X-Bridge-Agent-ID and X-Bridge-Agent-Key.',
  options: {
    name: { value: 'NAME', meaning: 'what people call it' },
    facility: { value: 'ID', meaning: 'the facility whose data it brings' },
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
  summary: 'Lists all Bridge agents, never their keys',
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
  summary: 'Gives a Bridge agent a new key, and shows it once',
  details: 'The key before it goes on working for the overlap; an older one ends now.',
  options: { overlap: { value: 'TIME', meaning: '30m, 24h, up to 7d; 0 ends the old key now; 24h if left out' } },
  async run(call) {
    const id = theOne(call, 'agent')
    const overlap = duration(call.text('overlap') ?? '24h', 604_800)
    return credentials(id, await rotateKey(call.database, id, overlap), { overlap_seconds: overlap })
  },
}

export const agentRevoke: AdminCommand = {
  name: 'agent revoke',
  usage: 'ID',
  summary: 'Ends a Bridge agent for good: its keys stop working at once',
  details: '',
  options: {},
  async run(call) {
    const id = theOne(call, 'agent')
    await revokeAgent(call.database, id)
    return { isGood: true, text: `${id} is revoked.\n`, json: { agent_id: id, revoked: true } }
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
