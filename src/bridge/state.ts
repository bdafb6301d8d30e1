// What the service knows of an agent: its last heartbeat, the sequence numbers it is done with, and the failures that go on.
import type { Queryable } from '../db/statement.ts'

/** What an agent says of its queue. */
interface Queue {
  readonly pending: number
  readonly quarantined: number
  readonly bytes: number
  readonly oldestAt: Date | undefined
}

/** What an agent says of itself. */
export interface Heartbeat {
  readonly version: string
  /** Seconds by which its clock is ahead of that of the service. */
  readonly skew: number
  readonly uptime: number | undefined
  readonly queue: Queue | undefined
  /** What people on the premises should look after, the gravest first. */
  readonly warnings: readonly string[]
}

export interface AgentState {
  readonly version: string | undefined
  readonly lastSeenAt: Date | undefined
  readonly skew: number | undefined
  readonly uptime: number | undefined
  readonly queue: Queue | undefined
  readonly warnings: readonly string[]
  /** Every seq up to it is stored, refused or skipped. */
  readonly acked: number
  /** Sequence numbers that the agent declared missing. */
  readonly skipped: number
  /** The Task of failures that go on. */
  readonly failingTask: string | undefined
  readonly configVersion: number
}

interface StateRow {
  readonly agent_id: string
  readonly version: string | null
  readonly last_seen_at: Date | null
  readonly skew_seconds: number | null
  readonly uptime_seconds: string | null
  readonly pending: string | null
  readonly quarantined: string | null
  readonly queue_bytes: string | null
  readonly oldest_at: Date | null
  readonly warnings: readonly string[]
  readonly acked: string
  readonly skipped: string
  readonly failing_task: string | null
  readonly config_version: number
}

/** The end of the first range, if it begins at 1. */
const acked = `case when received @> 1::bigint then upper((select r from unnest(received) r order by r limit 1)) - 1 else 0 end`

const columns = `agent_id, version, last_seen_at, skew_seconds, uptime_seconds::text, pending::text, quarantined::text,
  queue_bytes::text, oldest_at, warnings, (${acked})::text as acked, skipped::text, failing_task, config_version`

const number = (text: string | null): number | undefined => (text === null ? undefined : Number(text))

const stateOf = (row: StateRow): AgentState => ({
  version: row.version ?? undefined,
  lastSeenAt: row.last_seen_at ?? undefined,
  skew: row.skew_seconds ?? undefined,
  uptime: number(row.uptime_seconds),
  queue:
    row.pending === null
      ? undefined
      : {
          pending: Number(row.pending),
          quarantined: Number(row.quarantined),
          bytes: Number(row.queue_bytes),
          oldestAt: row.oldest_at ?? undefined,
        },
  warnings: row.warnings,
  acked: Number(row.acked),
  skipped: Number(row.skipped),
  failingTask: row.failing_task ?? undefined,
  configVersion: row.config_version,
})

/** Records a heartbeat, and returns what is known now. */
export async function heard(on: Queryable, agent: string, heartbeat: Heartbeat, now: Date): Promise<AgentState> {
  const { version, skew, uptime, queue, warnings } = heartbeat
  const [row] = await on.query<StateRow>({
    name: 'bridge-heard',
    text: `insert into bridge_state as s (agent_id, version, last_seen_at, skew_seconds, uptime_seconds, pending, quarantined, queue_bytes, oldest_at, warnings)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (agent_id) do update set version = excluded.version, last_seen_at = excluded.last_seen_at,
        skew_seconds = excluded.skew_seconds, uptime_seconds = excluded.uptime_seconds, pending = excluded.pending,
        quarantined = excluded.quarantined, queue_bytes = excluded.queue_bytes, oldest_at = excluded.oldest_at,
        warnings = excluded.warnings
      returning ${columns}`,
    values: [
      ...[agent, version, now, skew, uptime ?? null],
      ...[queue?.pending ?? null, queue?.quarantined ?? null, queue?.bytes ?? null, queue?.oldestAt ?? null],
      warnings,
    ],
  })
  return stateOf(row!)
}

/** Returns the state of an agent once no other sync of it is running; it remains alone until the transaction ends. */
export async function lockState(on: Queryable, agent: string): Promise<AgentState> {
  const [row] = await on.query<StateRow>({
    name: 'bridge-lock',
    text: `insert into bridge_state (agent_id) values ($1)
      on conflict (agent_id) do update set agent_id = excluded.agent_id returning ${columns}`,
    values: [agent],
  })
  return stateOf(row!)
}

/** Most ranges of sequence numbers beyond a gap. */
const mostRanges = 1000

/** Marks sequence numbers as done with, and returns the last one before the first gap; undefined if there are too many gaps. */
export async function advance(
  on: Queryable,
  agent: string,
  { done, skipped }: { readonly done: readonly number[]; readonly skipped: readonly number[] },
): Promise<number | undefined> {
  const [row] = await on.query<{ acked: string; ranges: number }>({
    name: 'bridge-advance',
    text: `update bridge_state set skipped = skipped + cardinality($3::bigint[]), received = received + coalesce(
        (select range_agg(int8range(seq, seq, '[]')) from unnest($2::bigint[] || $3::bigint[]) seq), '{}')
      where agent_id = $1
      returning (${acked})::text as acked, (select count(*)::int from unnest(received)) as ranges`,
    values: [agent, done, skipped],
  })
  return row!.ranges > mostRanges ? undefined : Number(row!.acked)
}

/** Remembers the Task of failures that go on, or that there are none. */
export async function setFailing(on: Queryable, agent: string, task: string | undefined): Promise<void> {
  await on.run({
    name: 'bridge-failing',
    text: 'update bridge_state set failing_task = $2 where agent_id = $1',
    values: [agent, task ?? null],
  })
}

/** Returns the states of all agents that have ever been heard, by agent. */
export async function agentStates(on: Queryable): Promise<ReadonlyMap<string, AgentState>> {
  const rows = await on.query<StateRow>({ text: `select ${columns} from bridge_state`, values: [] })
  return new Map(rows.map(row => [row.agent_id, stateOf(row)]))
}
