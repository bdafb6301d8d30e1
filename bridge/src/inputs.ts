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
  /** What keeps it from working; undefined: nothing. */
  problem(): string | undefined
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
  /** Makes the inputs those of the config; what is the same goes on. @throws Error naming those that do not start. */
  apply(config: Wanted): Promise<void>
  /** Starts what did not start before: an address may come later than the agent. Returns the milliseconds until the next try. */
  step(): Promise<number>
  status(): Record<string, Readonly<Record<string, string | number>>>
  /** What keeps inputs from working, as people read it. */
  problems(): string[]
  close(): Promise<void>
}

type Wanted = Pick<Config, 'sources' | 'limits'>

interface Running {
  readonly written: string
  readonly input: Input
}

const retryEvery = 10_000

export function createInputs(parts: InputParts): Inputs {
  const running = new Map<string, Running>()
  const failed = new Map<string, string>()
  let wanted: Wanted | undefined
  const end = async (name: string): Promise<void> => {
    const one = running.get(name)
    running.delete(name)
    await one?.input.close()
  }
  const begin = async ({ sources, limits }: Wanted): Promise<void> => {
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
  }
  // One change after the other: two would start the same input twice.
  let last: Promise<void> = Promise.resolve()
  const inTurn = (config: Wanted): Promise<void> => (last = last.then(() => begin(config)))
  return {
    async apply(config) {
      wanted = config
      await inTurn(config)
      for (const name of failed.keys()) parts.log.error('an input did not start', { source: name })
      if (failed.size > 0) throw new Error([...failed.values()].join(' '))
    },
    async step() {
      if (failed.size > 0 && wanted) await inTurn(wanted)
      return retryEvery
    },
    status: () => ({
      ...Object.fromEntries([...running].map(([name, { input }]) => [name, input.status()])),
      ...Object.fromEntries([...failed.keys()].map(name => [name, { state: 'not started' }])),
    }),
    problems: () => [...failed.values(), ...[...running.values()].flatMap(({ input }) => input.problem() ?? [])],
    async close() {
      await last
      for (const name of [...running.keys()]) await end(name)
    },
  }
}

async function start(parts: InputParts, name: string, source: Source, longest: number): Promise<Input> {
  if (source.kind === 'folder') return startFolder({ ...parts, name, source, longest })
  const server = await startMllp({ ...parts, name, source, longest })
  return {
    status: () => ({ state: 'listening', kind: 'mllp', port: server.port, connections: server.connections() }),
    problem: () => undefined,
    close: () => server.close(),
  }
}
