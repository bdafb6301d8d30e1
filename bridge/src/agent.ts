// The agent put together: state, inputs, and the three talks with the server (upload, heartbeat, commands).
import { dirname, resolve } from 'node:path'
import type { Clock } from './clock.ts'
import type { Config } from './config-shape.ts'
import { createInputs } from './inputs.ts'
import { createIntake } from './intake.ts'
import { type Local, startLocal } from './local/server.ts'
import { statusOf } from './local/status.ts'
import type { Log } from './log.ts'
import { keepDoing, type Loop } from './loop.ts'
import { createCommands } from './server/commands.ts'
import { createHeartbeat } from './server/heartbeat.ts'
import { createKeys, type Keys } from './server/keys.ts'
import { createLine, type Line } from './server/line.ts'
import { proxyFor } from './server/proxy.ts'
import { createSettings, type Settings } from './server/settings.ts'
import { createTransport } from './server/transport.ts'
import { createUpload } from './server/upload.ts'
import type { Sender } from './state/batches.ts'
import { fullness, warningsOf } from './state/fullness.ts'
import { type Lock, lock } from './state/lock.ts'
import { read, write } from './state/meta.ts'
import { outdated } from './state/outdated.ts'
import { refused } from './state/refused.ts'
import { openState, type State } from './state/state.ts'
import { createUpkeep } from './state/upkeep.ts'

export interface Agent {
  readonly local: Local
  /** Ends in order: inputs first, then what is under way. */
  stop(): Promise<void>
}

export interface AgentParts {
  readonly file: string
  readonly config: Config
  /** For payloads at rest. */
  readonly key: Buffer
  readonly clock: Clock
  readonly log: Log
}

/** @throws Problem if another agent runs on the state folder, or what the config says cannot be done. */
export async function startAgent(parts: AgentParts): Promise<Agent> {
  const held = lock(parts.config.state_folder)
  let state: State | undefined
  try {
    state = openState(parts.config.state_folder, parts.key)
    return await begin(parts, state, held)
  } catch (error) {
    state?.close()
    held.release()
    throw error
  }
}

async function begin(parts: AgentParts, state: State, held: Lock): Promise<Agent> {
  const { clock, log, config: written } = parts
  const { agent_id: agentId, facility_id: facilityId, agent_key, url, ca_file } = written.server
  const proxy = proxyFor(url)
  if (proxy) log.info('the server is reached through a proxy', { proxy: proxy.name })
  const transport = createTransport(url, ca_file, proxy)
  const keys = createKeys(state, agent_key)
  const line = createLine({ state, transport, keys, agentId, clock, log })
  const loops = new Map<string, Loop>()
  const wake = (name: string) => (): void => loops.get(name)?.wake()
  const shared: Shared = { state, line, clock, log, sender: { agentId, facilityId }, wake }
  const settings = createSettings({ state, line, written, folder: dirname(resolve(parts.file)) })
  const limits = () => settings.current().limits
  const intake = createIntake({ state, clock, log, limits, onStored: wake('upload') })
  const inputs = createInputs({ state, intake, clock, log, time: line.time })
  settings.onChange(config => inputs.apply(config))
  const warnings = () => [
    ...[intake.trouble() ?? []].flat(),
    ...refused(state),
    ...inputs.problems(),
    ...warningsOf(fullness(state, limits(), clock.now())),
    ...outdated(state),
  ]
  const status = () =>
    statusOf({ state, line, clock, config: settings.current(), inputs: inputs.status(), warnings: warnings() })
  const local = await startLocal({ config: written, limits, state, intake, log, time: line.time, status })
  if (read(state, 'local_port') !== local.port) write(state, 'local_port', local.port)
  // What does not start is tried again; the status says what and why.
  await inputs.apply(settings.current()).catch(() => {})
  const upkeep = createUpkeep({ state, clock, log, limits, warnings })
  const steps = { ...stepsOf(shared, keys, settings, warnings), inputs: inputs.step, upkeep: upkeep.step }
  for (const [name, step] of Object.entries(steps)) loops.set(name, keepDoing(name, step, clock, log))
  return {
    local,
    async stop() {
      const ended = [...loops.values()].map(each => each.stop())
      await inputs.close()
      await local.close()
      transport.close()
      await Promise.all(ended)
      held.release()
      state.close()
    },
  }
}

interface Shared {
  readonly state: State
  readonly line: Line
  readonly clock: Clock
  readonly log: Log
  readonly sender: Sender
  /** Returns what has the step of that name taken now. */
  readonly wake: (name: string) => () => void
}

/** Hours do for a config of which heartbeats and commands tell. */
const configEvery = 3_600_000

/** The talks with the server, step by step. */
function stepsOf(
  shared: Shared,
  keys: Keys,
  settings: Settings,
  warnings: () => readonly string[],
): Record<string, () => Promise<number>> {
  const { wake, log } = shared
  const heartbeat = createHeartbeat({ ...shared, warnings, onConfig: wake('config'), onBegin: wake('upload') })
  const commands = createCommands({
    ...shared,
    keys,
    targets: () => settings.current().targets,
    applyConfig: settings.fetch,
    onStored: wake('upload'),
    onCommands: wake('work'),
  })
  return {
    heartbeat: heartbeat.step,
    upload: createUpload(shared).step,
    commands: commands.fetch,
    work: commands.work,
    async config() {
      await settings.fetch().catch(error => log.warn('the server’s config is not in force', { problem: error.message }))
      return configEvery
    },
  }
}
