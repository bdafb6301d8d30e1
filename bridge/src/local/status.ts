// How the agent is, in counts and times: for the status page, `agent status` and programs. Nothing that was received is in it.
import type { Clock } from '../clock.ts'
import type { Config } from '../config-shape.ts'
import type { Line } from '../server/line.ts'
import { oldest, tally } from '../state/items.ts'
import { read } from '../state/meta.ts'
import type { State } from '../state/state.ts'
import { version } from '../version.ts'

export interface Status {
  readonly agent_id: string
  readonly version: string
  readonly server: string
  readonly time: string
  readonly last_contact: string | null
  /** Why the last request failed; null: it did not. */
  readonly trouble: string | null
  /** Seconds that the server's clock is ahead of this machine's. */
  readonly clock_offset_seconds: number
  readonly queue: { readonly pending: number; readonly bytes: number; readonly oldest_at: string | null }
  readonly quarantined: number
  /** Sources whose first item is tried again, with the seconds until then. */
  readonly held: readonly { readonly source: string; readonly seconds: number }[]
  readonly acked_through_seq: number | null
  readonly warnings: readonly string[]
  readonly inputs: Readonly<Record<string, Readonly<Record<string, string | number>>>>
  readonly update: { readonly version: string; readonly url?: string } | null
}

interface Parts {
  readonly state: State
  /** Absent: the agent does not run. */
  readonly line?: Line
  readonly clock: Clock
  readonly config: Config
  readonly inputs: Status['inputs']
  readonly warnings: readonly string[]
}

export function statusOf({ state, line, clock, config, inputs, warnings }: Parts): Status {
  const now = clock.now()
  const [items, first] = [tally(state, 'item'), oldest(state)]
  const contact = line?.health.lastContact ?? read(state, 'last_contact')
  const holds = state.sql('select source, until from hold order by source').all() as unknown as Hold[]
  return {
    agent_id: config.server.agent_id,
    version,
    server: config.server.url,
    time: new Date(now).toISOString(),
    last_contact: iso(contact),
    trouble: line?.health.trouble ?? null,
    clock_offset_seconds: Math.round((read(state, 'clock_offset') ?? 0) / 1000),
    queue: { pending: items.count, bytes: items.bytes, oldest_at: iso(first) },
    quarantined: tally(state, 'quarantine').count,
    held: holds.map(({ source, until }) => ({ source, seconds: Math.max(0, Math.ceil((until - now) / 1000)) })),
    acked_through_seq: read(state, 'acked_through_seq') ?? null,
    warnings,
    inputs,
    update: read(state, 'update') ?? null,
  }
}

/** How the clock of this machine is, in words. */
export function clockText({ clock_offset_seconds: seconds }: Status): string {
  if (Math.abs(seconds) < 5) return 'right'
  return `${Math.abs(seconds)} seconds ${seconds > 0 ? 'behind' : 'ahead of'} the server’s; times are corrected`
}

interface Hold {
  readonly source: string
  readonly until: number
}

const iso = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString())
