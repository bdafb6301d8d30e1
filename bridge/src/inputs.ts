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
  const state: InputState = { running: new Map(), failed: new Map(), wanted: undefined, last: Promise.resolve() }
  const { running, failed } = state
  return {
    async apply(config) {
      await change(parts, state, config)
      for (const name of failed.keys()) parts.log.error('an input did not start', { source: name })
      if (failed.size > 0) throw new Error([...failed.values()].join(' '))
    },
    async step() {
      if (failed.size > 0 && state.wanted) await change(parts, state, state.wanted)
      return retryEvery
    },
    status: () => ({
      ...Object.fromEntries([...running].map(([name, { input }]) => [name, input.status()])),
      ...Object.fromEntries([...failed.keys()].map(name => [name, { state: 'not started' }])),
    }),
    problems: () => [...failed.values(), ...[...running.values()].flatMap(({ input }) => input.problem() ?? [])],
    async close() {
      await state.last
      for (const name of [...running.keys()]) await end(state, name)
    },
  }
}

interface InputState {
  readonly running: Map<string, Running>
  /** Why inputs did not start, by their names. */
  readonly failed: Map<string, string>
  wanted: Wanted | undefined
  /** The change under way, or the last one. */
  last: Promise<void>
}

/** One change after the other: two would start the same input twice. */
function change(parts: InputParts, state: InputState, wanted: Wanted): Promise<void> {
  state.wanted = wanted
  state.last = state.last.then(() => make(parts, state, wanted))
  return state.last
}

/** Ends the inputs that are no longer wanted as they are, and starts those that do not run. */
async function make(parts: InputParts, state: InputState, { sources, limits }: Wanted): Promise<void> {
  const { running, failed } = state
  const longest = limits.max_message_bytes
  const written = (source: Source): string => JSON.stringify([source, longest])
  failed.clear()
  for (const [name, one] of running)
    if (!sources[name] || written(sources[name]) !== one.written) await end(state, name)
  for (const [name, source] of Object.entries(sources)) {
    if (running.has(name)) continue
    await start(parts, name, source, longest).then(
      input => running.set(name, { written: written(source), input }),
      error => failed.set(name, error.message),
    )
  }
}

async function end({ running }: InputState, name: string): Promise<void> {
  const one = running.get(name)
  running.delete(name)
  await one?.input.close()
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
