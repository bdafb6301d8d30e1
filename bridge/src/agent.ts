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
import { createKeys } from './server/keys.ts'
import { createLine } from './server/line.ts'
import { fetchConfig, merged } from './server/remote-config.ts'
import { createTransport } from './server/transport.ts'
import { createUpload } from './server/upload.ts'
import { fullness, warningsOf } from './state/fullness.ts'
import { type Lock, lock } from './state/lock.ts'
import { read, write } from './state/meta.ts'
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
  const { clock, log, file, config: written } = parts
  const folder = dirname(resolve(file))
  const problems: string[] = []
  let config = merged(written, read(state, 'server_config'), folder, problems)
  if (problems.length > 0) config = written
  const transport = createTransport(config.server.url, config.server.ca_file)
  const keys = createKeys(state, config.server.agent_key)
  const { agent_id: agentId, facility_id: facilityId } = config.server
  const line = createLine({ state, transport, keys, agentId, clock, log })
  const sender = { agentId, facilityId }
  const loops = new Map<string, Loop>()
  const wake = (name: string) => (): void => loops.get(name)?.wake()
  const shared = { state, line, sender, clock, log }
  const intake = createIntake({ ...shared, limits: () => config.limits, onStored: wake('upload') })
  const inputs = createInputs({ state, intake, clock, log, time: line.time })
  const warnings = (): string[] => warningsOf(fullness(state, config.limits, clock.now()))
  const applyConfig = async (): Promise<void> => {
    if (!(await fetchConfig(state, line, written, folder))) return
    config = merged(written, read(state, 'server_config'), folder, [])
    const failed = await inputs.apply(config)
    if (failed.length > 0) throw new Error(failed.join(' '))
  }
  const commands = createCommands({
    ...shared,
    keys,
    targets: () => config.targets,
    applyConfig,
    onStored: wake('upload'),
    onCommands: wake('work'),
  })
  const heartbeat = createHeartbeat({ ...shared, onConfig: wake('config'), onBegin: wake('upload') })
  const upload = createUpload(shared)
  const upkeep = createUpkeep({ state, clock, log, limits: () => config.limits, warnings })
  const status = () => statusOf({ state, line, clock, config, inputs: inputs.status(), warnings: warnings() })
  const local = await startLocal({ config, state, intake, log, time: line.time, status })
  write(state, 'local_port', local.port)
  const failed = await inputs.apply(config)
  for (const problem of failed) process.stderr.write(`${problem}\n`)
  const steps: Record<string, () => Promise<number>> = {
    heartbeat: heartbeat.step,
    upload: upload.step,
    commands: commands.fetch,
    work: commands.work,
    upkeep: upkeep.step,
    config: async () => {
      if (loops.has('config') && written.remote_config)
        await applyConfig().catch(() => log.error('the server’s config is not applied'))
      return 3_600_000
    },
  }
  for (const [name, step] of Object.entries(steps)) loops.set(name, keepDoing(name, step, clock, log))
  return {
    local,
    async stop() {
      await inputs.close()
      await local.close()
      const ended = [...loops.values()].map(each => each.stop())
      transport.close()
      await Promise.all(ended)
      held.release()
      state.close()
    },
  }
}
