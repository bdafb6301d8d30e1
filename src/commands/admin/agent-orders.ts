// npm run admin -- agent command, commands, repeat and configure: what Bridge agents are to do, and the settings that they receive.
import { readFile } from 'node:fs/promises'
import { type LoggedCommand, listCommands, mostListed, repeatCommand } from '../../bridge/command-log.ts'
import { type CommandType, command } from '../../bridge/commands.ts'
import { listAgents } from '../../identity/agents.ts'
import { UsageError } from '../../lib/command.ts'
import { Failure } from '../../lib/failure.ts'
import type { JsonObject } from '../../lib/json.ts'
import { syntaxProblem } from '../../lib/json-tokens.ts'
import { type AdminCall, type AdminCommand, needed, theOne } from './command.ts'

export const agentCommand: AdminCommand = {
  name: 'agent command',
  usage: 'ID rotate-key | retry-quarantine | send --target NAME --file FILE | update --version VERSION',
  summary: 'Give a Bridge agent a command, which it carries out when it is online',
  details:
    'rotate-key: the agent makes a new key; its key until then remains valid for 24 hours. retry-quarantine: the agent sends its refused items again. send: the agent sends an HL7 v2 message to one of its targets. update: the agent reports that a newer version exists.',
  options: {
    target: { value: 'NAME', meaning: 'the MLLP receiver, by its name in the settings of the agent' },
    file: { value: 'FILE', meaning: 'the file with the HL7 v2 message' },
    version: { value: 'VERSION', meaning: 'the newer version of the agent' },
  },
  async run(call) {
    const [agent, order] = call.positionals
    const id = await knownAgent(call, agent)
    const make = orders[order ?? '']
    if (!make || call.positionals.length > 2)
      throw new UsageError(`specify an agent and one of ${Object.keys(orders).join(', ')}`)
    const [type, payload] = await make(call)
    const command_id = await command(call.database, id, type, payload)
    return {
      isGood: true,
      text: `Command ${command_id} (${type}) waits for ${id}.\n`,
      json: { agent_id: id, command_id, type },
    }
  },
}

export const agentCommands: AdminCommand = {
  name: 'agent commands',
  usage: 'ID [--failed]',
  summary: 'List the commands of a Bridge agent, the newest first, with what became of them',
  details: `Shows up to ${mostListed}. A message of a resource has the resource beside it.`,
  options: { failed: { meaning: 'only those that failed' } },
  async run(call) {
    const id = await knownAgent(call, theOne(call, 'agent'))
    const commands = await listCommands(call.database, id, call.isSet('failed') ? 'failed' : undefined)
    return {
      isGood: true,
      text: commands.map(shown).join('') || 'There are no such commands.\n',
      json: { agent_id: id, commands: commands.map(plain) },
    }
  },
}

export const agentRepeat: AdminCommand = {
  name: 'agent repeat',
  usage: 'ID COMMAND',
  summary: 'Give a Bridge agent a command that failed once more',
  details: 'A message of a resource is made of the resource as it is now, by the map as it is now.',
  options: {},
  async run(call) {
    const [agent, failed, ...more] = call.positionals
    const id = await knownAgent(call, agent)
    if (!/^\d{1,18}$/.test(failed ?? '') || more.length > 0) throw new UsageError('specify an agent and one command')
    const command_id = await repeatCommand(call.database, id, failed!)
    return {
      isGood: true,
      text: `Command ${command_id} repeats ${failed} and waits for ${id}.\n`,
      json: { agent_id: id, command_id, repeats: failed },
    }
  },
}

const shown = ({ id, type, status, resource = '', message = '', createdAt }: LoggedCommand): string =>
  `${id.padStart(8)}  ${createdAt.toISOString()}  ${type.padEnd(16)}  ${status.padEnd(8)}  ${`${resource} ${message}`.trim()}\n`

const plain = ({ createdAt, endedAt, message, resource, ...command }: LoggedCommand) => ({
  ...command,
  message: message ?? null,
  resource: resource ?? null,
  created_at: createdAt,
  ended_at: endedAt ?? null,
})

export const agentConfigure: AdminCommand = {
  name: 'agent configure',
  usage: 'ID --file FILE',
  summary: 'Replace the settings that a Bridge agent receives from the service',
  details:
    'The file is JSON with sources, targets and limits. They replace those of the same name in the file of the agent.',
  options: { file: { value: 'FILE', meaning: 'the JSON file with the settings' } },
  async run(call) {
    const id = await knownAgent(call, call.positionals[0])
    const { configure } = await import('../../bridge/configuration.ts')
    const version = await configure(call.database, id, parsed(await textOf(call)))
    return {
      isGood: true,
      text: `Version ${version} of the settings waits for ${id}.\n`,
      json: { agent_id: id, config_version: version },
    }
  },
}

type Order = (call: AdminCall) => Promise<readonly [CommandType, JsonObject]>

const orders: Readonly<Record<string, Order>> = {
  'rotate-key': async () => ['rotate_key', {}],
  'retry-quarantine': async () => ['retry_quarantine', { all: true }],
  send: async call => ['send_hl7v2', { target: needed(call, 'target'), message: await textOf(call) }],
  update: async call => ['update_available', { version: needed(call, 'version') }],
}

async function knownAgent(call: AdminCall, id: string | undefined): Promise<string> {
  if (id === undefined) throw new UsageError('specify one agent')
  const known = (await listAgents(call.database)).find(each => each.id === id && !each.revokedAt)
  if (known) return known.id
  throw new Failure('NOT_FOUND', `There is no active agent ${id.slice(0, 100)}.`)
}

async function textOf(call: AdminCall): Promise<string> {
  const file = needed(call, 'file')
  return readFile(file, 'utf8').catch(() => {
    throw new Failure('NOT_FOUND', `The file ${file} cannot be read.`)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const problem = syntaxProblem(text, (error as Error).message)
    throw new Failure('MALFORMED_REQUEST', `The file is not valid JSON: ${problem}.`)
  }
}
