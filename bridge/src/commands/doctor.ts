// agent doctor: looks at everything that must be right, and says what to do where it is not.
import { accessSync, constants, statSync } from 'node:fs'
import type { TLSSocket } from 'node:tls'
import { systemClock } from '../clock.ts'
import { readConfig } from '../config.ts'
import type { Config } from '../config-shape.ts'
import { keySourceOf, readDataKey } from '../data-key.ts'
import { createLog } from '../log.ts'
import { Problem } from '../problem.ts'
import { createKeys } from '../server/keys.ts'
import { codeOf, createLine } from '../server/line.ts'
import { type HttpProxy, proxyFor } from '../server/proxy.ts'
import { connectionsTo, createTransport, requesterOf, Unreachable } from '../server/transport.ts'
import { fullness, warningsOf } from '../state/fullness.ts'
import { isOlder } from '../state/outdated.ts'
import { refused } from '../state/refused.ts'
import { openState, type State } from '../state/state.ts'
import { version } from '../version.ts'
import type { AgentCommand } from './tool.ts'

interface Finding {
  readonly check: string
  readonly is_good: boolean
  readonly text: string
}

const good = (check: string, text: string): Finding => ({ check, is_good: true, text })
const bad = (check: string, text: string): Finding => ({ check, is_good: false, text })

export const doctor: AgentCommand = {
  name: 'doctor',
  usage: '',
  summary:
    'Check config, key file, disk, database, refused batches, network, certificate, agent key, clock and version',
  details: 'May run beside the agent.',
  options: {},
  async run({ file }) {
    const findings = await examine(file)
    const isGood = findings.every(each => each.is_good)
    const text = findings
      .map(each => `${each.is_good ? 'good' : 'BAD '}  ${each.check.padEnd(12)} ${each.text}\n`)
      .join('')
    return { isGood, text, json: { is_good: isGood, findings } }
  },
}

async function examine(file: string): Promise<Finding[]> {
  let config: Config
  let state: State
  let proxy: HttpProxy | undefined
  try {
    config = readConfig(file)
    proxy = proxyFor(config.server.url)
    state = openState(config.state_folder, readDataKey(config.data_key_file))
  } catch (error) {
    if (error instanceof Problem) return [bad('config', error.message)]
    throw error
  }
  try {
    const findings = [good('config', file), secret(file, config), database(state), disk(state, config), batches(state)]
    const network = await reach(config, proxy)
    return [...findings, ...network, ...(network.every(each => each.is_good) ? await talk(state, config) : [])]
  } finally {
    state.close()
  }
}

/** Config and key file hold secrets: others on this machine must not read them. */
function secret(file: string, config: Config): Finding {
  const { kind, where } = keySourceOf(config.data_key_file)
  const files = [file, ...(kind === 'file' ? [where] : [])]
  const open = process.platform === 'win32' ? [] : files.filter(each => (statSync(each).mode & 0o077) !== 0)
  if (open.length > 0) return bad('secrets', `others can read ${open.join(' and ')}: chmod 600`)
  return good('secrets', `readable by their owner only; data key from ${kind} ${where}`)
}

function database(state: State): Finding {
  accessSync(state.folder, constants.W_OK)
  const [row] = state.db.prepare('pragma quick_check(1)').all() as { quick_check: string }[]
  if (row?.quick_check === 'ok') return good('database', state.folder)
  return bad('database', `${state.folder} is damaged: move it aside and enrol again`)
}

function disk(state: State, { limits }: Config): Finding {
  const all = fullness(state, limits, systemClock.now())
  const warnings = warningsOf(all)
  return warnings.length === 0 ? good('room', all.map(each => each.text).join('; ')) : bad('room', warnings.join('; '))
}

/** What a running agent has met: a heartbeat alone does not show that batches are refused. */
function batches(state: State): Finding {
  const [refusal] = refused(state)
  return refusal === undefined ? good('batches', 'none is refused as a whole') : bad('batches', refusal)
}

/** Days before the end of a certificate when it is time to act. */
const soon = 14

/** One request on the way that the agent itself takes; whatever the server answers, it is reached. */
async function reach({ server: { url, ca_file } }: Config, proxy: HttpProxy | undefined): Promise<Finding[]> {
  const agent = connectionsTo(url, ca_file, proxy)
  const { host } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<Finding[]>()
  const request = requesterOf(url)(url, { method: 'HEAD', agent, timeout: 10_000 })
  request.on('timeout', () => request.destroy(new Error('no answer in 10 seconds')))
  request.once('error', error => resolve([unreached(error, host, proxy)]))
  request.once('response', ({ socket }) => {
    const reached = good('network', `${host} is reached${proxy ? ` through the proxy ${proxy.name}` : ''}`)
    resolve(url.startsWith('https:') ? [reached, certificate(socket as TLSSocket)] : [reached])
  })
  request.end()
  const findings = await promise
  agent.destroy()
  return findings
}

function unreached({ code, message }: NodeJS.ErrnoException, host: string, proxy: HttpProxy | undefined): Finding {
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code ?? '')
  if (isCertificate)
    return bad('certificate', `${host}: ${code}; if the service has its own authority set "server.ca_file"`)
  const [way, hint] = proxy
    ? [` through the proxy ${proxy.name}`, 'check HTTPS_PROXY, its user and password, and NO_PROXY']
    : ['', hintFor(code)]
  return bad('network', `${host} cannot be reached${way} (${code ?? message}): ${hint}`)
}

const hintFor = (code: string | undefined): string =>
  code === 'ENOTFOUND' || code === 'EAI_AGAIN'
    ? 'the name is not known: check network and DNS; behind a proxy set HTTPS_PROXY'
    : 'check network and firewall; behind a proxy set HTTPS_PROXY'

function certificate(socket: TLSSocket): Finding {
  const until = Date.parse(socket.getPeerCertificate().valid_to)
  const days = Math.floor((until - Date.now()) / 86_400_000)
  const text = `of the server is valid for ${days} days`
  return days >= soon ? good('certificate', text) : bad('certificate', `${text}: tell the operator of the service`)
}

const tolerated = 60

async function talk(state: State, config: Config): Promise<Finding[]> {
  const { agent_id: agentId, facility_id, agent_key } = config.server
  const transport = createTransport(config.server.url, config.server.ca_file)
  const keys = createKeys(state, agent_key)
  const line = createLine({ state, transport, keys, agentId, clock: systemClock, log: createLog('silent') })
  const body = { agent_id: agentId, facility_id, version }
  const reply = await line.call({ method: 'POST', path: 'heartbeat', body, deadline: 20_000 }).catch(error => error)
  transport.close()
  if (reply instanceof Unreachable) return [bad('key', reply.message)]
  if (reply.status !== 200)
    return [bad('key', `the server answers ${reply.status} ${codeOf(reply) ?? ''}: ${line.health.trouble ?? ''}`)]
  const seconds = Math.round((line.time().getTime() - systemClock.now()) / 1000)
  const isRight = Math.abs(seconds) <= tolerated
  const text = `${Math.abs(seconds)} seconds ${seconds > 0 ? 'behind' : 'ahead of'} the server’s`
  const hint =
    'times are corrected, but set it: turn on time synchronisation, or replace the battery of the machine’s clock'
  const clock = isRight ? good('clock', text) : bad('clock', `${text}; ${hint}`)
  return [good('key', 'the server knows it'), clock, versionFor(reply.body['min_agent_version'])]
}

function versionFor(least: unknown): Finding {
  if (typeof least !== 'string' || !isOlder(version, least)) return good('version', version)
  return bad('version', `${version} is too old: the server asks for ${least} or newer; update the agent`)
}
