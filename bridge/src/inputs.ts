// The inputs that run: started, stopped and changed as the config says, each without disturbing the others.

import type { Clock } from './clock.ts'
import type { Config, Source } from './config-shape.ts'
import { startFolder } from './folder/watch.ts'
import type { Intake } from './intake.ts'
import type { Log } from './log.ts'
import { startMllp } from './mllp/server.ts'
import type { State } from './state/state.ts'

/** An input that runs. */
export interface Input {
  /** What the status page says: counts and states, nothing of what is received. */
  status(): Readonly<Record<string, string | number>>
  close(): Promise<void>
}

export interface InputParts {
  readonly state: State
  readonly intake: Intake
  readonly clock: Clock
  /** Now, by the server's clock. */
  readonly time: () => Date
  readonly log: Log
}

export interface Inputs {
  /** Makes the inputs those of the config; what is the same goes on. Resolves with the names of those that did not start. */
  apply(config: Pick<Config, 'sources' | 'limits'>): Promise<string[]>
  status(): Record<string, Readonly<Record<string, string | number>>>
  close(): Promise<void>
}

interface Running {
  readonly written: string
  readonly input: Input
}

export function createInputs(parts: InputParts): Inputs {
  const running = new Map<string, Running>()
  const failed = new Map<string, string>()
  const end = async (name: string): Promise<void> => {
    await running.get(name)?.input.close()
    running.delete(name)
  }
  return {
    async apply({ sources, limits }) {
      failed.clear()
      const longest = limits.max_message_bytes
      const written = (source: Source): string => JSON.stringify([source, longest])
      for (const [name, one] of running) if (!sources[name] || written(sources[name]) !== one.written) await end(name)
      for (const [name, source] of Object.entries(sources)) {
        if (running.has(name)) continue
        await start(parts, name, source, longest).then(
          input => running.set(name, { written: written(source), input }),
          error => failed.set(name, error.message),
        )
      }
      for (const [name] of failed) parts.log.error('an input did not start', { source: name })
      return [...failed.values()]
    },
    status: () => ({
      ...Object.fromEntries([...running].map(([name, { input }]) => [name, input.status()])),
      ...Object.fromEntries([...failed].map(([name, problem]) => [name, { state: 'not started', problem }])),
    }),
    async close() {
      for (const name of [...running.keys()]) await end(name)
    },
  }
}

async function start(parts: InputParts, name: string, source: Source, longest: number): Promise<Input> {
  if (source.kind === 'folder') return startFolder({ ...parts, name, source, longest })
  const server = await startMllp({ ...parts, name, source, longest })
  return {
    status: () => ({ state: 'listening', kind: 'mllp', port: server.port, connections: server.connections() }),
    close: () => server.close(),
  }
}
