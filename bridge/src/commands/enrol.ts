// agent enrol: writes the config file and the data key, and proves both the address and the key with a heartbeat.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { configOf, parsed, writeConfig } from '../config.ts'
import type { Values } from '../config-check.ts'
import type { Config } from '../config-shape.ts'
import { ensureDataKey, keySourceOf, readDataKey } from '../data-key.ts'
import { Problem } from '../problem.ts'
import { beginAfter } from '../server/heartbeat.ts'
import { codeOf, proofOf } from '../server/line.ts'
import { createTransport, type Reply, type Transport, Unreachable } from '../server/transport.ts'
import { lock } from '../state/lock.ts'
import { openState } from '../state/state.ts'
import { version } from '../version.ts'
import type { AgentCommand } from './tool.ts'

export const enrol: AgentCommand = {
  name: 'enrol',
  usage: '--url URL --id ID --key KEY',
  summary: 'Write the config file, and check the key with the server',
  details:
    'The operator of the service gives id and key. The file keeps its sources, targets and limits if it exists already. Nothing is written if the server refuses the key; if it cannot be reached the file is written all the same, and the exit code is 1.',
  options: {
    url: { value: 'URL', meaning: 'address of the service, e.g. https://fhir.example.org' },
    id: { value: 'ID', meaning: 'id of this agent' },
    key: { value: 'KEY', meaning: 'key of this agent: bak_…; - reads it from standard input' },
    state: { value: 'FOLDER', meaning: 'folder of the database (default: state, beside the config file)' },
    facility: { value: 'ID', meaning: 'facility that the agent works for (default: as the server knows)' },
  },
  async run({ given, file }) {
    const [url, id, key, facility, state] = ['url', 'id', 'key', 'facility', 'state'].map(name => given.text(name))
    const written = await valuesOf({ url, id, key, facility, state }, file)
    const problems: string[] = []
    const config = configOf(written, dirname(resolve(file)), problems)
    if (problems.length > 0)
      throw new Problem(problems.map(each => `${hints[each.split(' ')[0]!] ?? ''}${each}`).join('\n'))
    const refusal = await check(config, () => {
      mkdirSync(dirname(resolve(file)), { recursive: true })
      ensureDataKey(config.data_key_file)
      writeConfig(file, written)
    })
    const { kind, where } = keySourceOf(config.data_key_file)
    const done = [`${file} is written.`, `The key for stored data comes from ${kind} ${where}.`]
    const next = ['Next: add sources to the file, see `agent doctor`, then `agent run`.']
    const text = [...done, refusal ?? 'The server knows this agent.', ...next].map(line => `${line}\n`).join('')
    return { isGood: refusal === undefined, text, json: { file, problem: refusal ?? null } }
  },
}

/** Problems of the file by their name, as an option of this command. */
const hints: Readonly<Record<string, string>> = {
  'server.url': '--url: ',
  'server.agent_id': '--id: ',
  'server.agent_key': '--key: ',
  'server.facility_id': '--facility: ',
}

interface Given {
  readonly url: string | undefined
  readonly id: string | undefined
  readonly key: string | undefined
  readonly facility: string | undefined
  readonly state: string | undefined
}

/** What the file will hold: what it holds already, with another server. */
async function valuesOf({ url = '', id = '', key = '', facility, state }: Given, file: string): Promise<Values> {
  const known: Values = existsSync(file) ? parsed(file) : {}
  const server = {
    ...(known['server'] as object),
    url,
    agent_id: id,
    agent_key: key === '-' ? (await standardInput()).trim() : key,
    ...(facility === undefined ? {} : { facility_id: facility }),
  }
  const local = { port: 8575, token: randomBytes(24).toString('base64url'), ...(known['local'] as object) }
  const folder = state === undefined ? {} : { state_folder: resolve(state) }
  return { ...known, server, ...folder, local, sources: known['sources'] ?? {} }
}

async function standardInput(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

/**
 * Sends one heartbeat; returns what went wrong, if it is nothing that forbids to write the files.
 * @param write called unless the server refuses the agent
 */
async function check(config: Config, write: () => void): Promise<string | undefined> {
  const held = lock(config.state_folder)
  try {
    const transport = createTransport(config.server.url, config.server.ca_file)
    const reply = await beat(config, transport)
    transport.close()
    if (reply instanceof Unreachable) {
      write()
      return `The server cannot be reached (${reply.code}): check the address and the network, then run \`agent doctor\`.`
    }
    const refusal = refusalOf(reply)
    if (refusal !== undefined) throw new Problem(`${refusal} Nothing is written.`)
    write()
    const state = openState(config.state_folder, readDataKey(config.data_key_file))
    beginAfter(state, reply.body['acked_through_seq'])
    state.close()
    return undefined
  } finally {
    held.release()
  }
}

/** A heartbeat of an agent that holds nothing yet; a clock that is wrong is no reason to refuse. */
async function beat({ server }: Config, transport: Transport): Promise<Reply | Unreachable> {
  const body = JSON.stringify({ agent_id: server.agent_id, facility_id: server.facility_id, version })
  const send = (now: number): Promise<Reply> => {
    const headers = proofOf(server.agent_id, server.agent_key, now)
    return transport.send({ method: 'POST', path: 'heartbeat', body, headers, deadline: 20_000 })
  }
  try {
    const reply = await send(Date.now())
    const told = Date.parse(String(reply.body['server_time']))
    return codeOf(reply) === 'CLOCK_SKEW' && !Number.isNaN(told) ? await send(told) : reply
  } catch (error) {
    if (error instanceof Unreachable) return error
    throw error
  }
}

function refusalOf(reply: Reply): string | undefined {
  const { status } = reply
  if (status === 200) return undefined
  if (status === 401)
    return 'The server does not know this id with this key: compare both with what the operator of the service gave.'
  if (status === 403)
    return 'The facility is not that of this agent: leave out --facility, or ask the operator of the service.'
  if (status === 400 || status === 422)
    return 'The server does not accept the id, or wants the facility: add --facility.'
  if (status === 404) return 'There is no service with agents at this address: check --url, without /api/v1.'
  return `The server answered ${status}${codeOf(reply) ? ` ${codeOf(reply)}` : ''}: try again later.`
}
