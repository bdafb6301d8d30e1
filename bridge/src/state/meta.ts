// Single values of the agent that survive a restart.
import type { Refusal } from './refused.ts'
import { withReserve } from './reserve.ts'
import type { State } from './state.ts'

/** Every value there is, by its name. */
interface Values {
  /** Number that the next new item of a batch gets. */
  readonly next_seq: number
  readonly acked_through_seq: number
  /** Milliseconds that the server's clock is ahead of this machine's. */
  readonly clock_offset: number
  /** Where the status page of the agent that runs, or ran last, is. */
  readonly local_port: number
  /** When the server last answered, by this machine's clock. */
  readonly last_contact: number
  /** The latest time that this machine's clock showed. */
  readonly latest_time: number
  readonly config_version: string
  /** What the server wants in place of the file's entries of the same name. */
  readonly server_config: unknown
  readonly last_command: string
  /** The oldest version of the agent that the server supports. */
  readonly min_agent_version: string
  /** Why the server refuses every batch; null: it took the last one. */
  readonly refused: Refusal | null
  readonly update: { readonly version: string; readonly url?: string }
}

export function read<Name extends keyof Values>(state: State, name: Name): Values[Name] | undefined {
  const row = state.sql('select value from meta where name = ?').get(name) as { value: string } | undefined
  return row === undefined ? undefined : JSON.parse(row.value)
}

export function write<Name extends keyof Values>(state: State, name: Name, value: Values[Name]): void {
  put(state, name, JSON.stringify(value))
}

function put(state: State, name: string, value: string | Uint8Array): void {
  withReserve(state.folder, () => state.sql('insert or replace into meta values (?, ?)').run(name, value))
}

/** Reads a value that is sealed. */
export function readSealed(state: State, name: 'keys'): unknown {
  const row = state.sql('select value from meta where name = ?').get(name) as { value: Uint8Array } | undefined
  return row === undefined ? undefined : JSON.parse(state.unseal(row.value, name))
}

export function writeSealed(state: State, name: 'keys', value: unknown): void {
  put(state, name, state.seal(JSON.stringify(value), name))
}
