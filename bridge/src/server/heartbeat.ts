// Tells the server how the agent is, and hears from it: the clock, the end of the sequence, whether commands wait.
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Sender } from '../state/batches.ts'
import { oldest, tally } from '../state/items.ts'
import { read, write } from '../state/meta.ts'
import type { State } from '../state/state.ts'
import { version } from '../version.ts'
import { createBackoff } from './backoff.ts'
import { codeOf, type Line } from './line.ts'
import { type Reply, Unreachable } from './transport.ts'

export interface Heartbeat {
  /** Beats once; returns the milliseconds until the next beat. */
  step(): Promise<number>
}

interface Parts {
  readonly state: State
  readonly line: Line
  readonly sender: Sender
  readonly clock: Clock
  readonly log: Log
  /** Warnings of the agent, the gravest first. */
  readonly warnings: () => readonly string[]
  /** Called when the server says that its config is another one. */
  readonly onConfig: () => void
  /** Called after the first beat, with which the sequence begins. */
  readonly onBegin: () => void
}

const every = 60_000

export function createHeartbeat(parts: Parts): Heartbeat {
  const { line, clock, log } = parts
  const backoff = createBackoff(clock, 2000, every)
  const began = clock.now()
  return {
    async step() {
      let reply: Reply
      try {
        reply = await line.call({ method: 'POST', path: 'heartbeat', body: beatOf(parts, began), deadline: 30_000 })
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
        log.warn('no heartbeat: the server cannot be reached', { code: error.code })
        return backoff.next()
      }
      if (reply.status !== 200) {
        log.warn('no heartbeat', { status: reply.status, code: codeOf(reply) })
        return Math.max(every / 2, backoff.next())
      }
      backoff.reset()
      heard(parts, reply)
      const seconds = reply.body['next_heartbeat_seconds']
      return typeof seconds === 'number' && seconds >= 1 ? Math.min(seconds, 3600) * 1000 : every
    },
  }
}

/** The body of a heartbeat: counts and times only. */
function beatOf({ state, sender, line, clock, warnings }: Omit<Parts, 'log' | 'onConfig' | 'onBegin'>, began: number) {
  const [items, kept, first] = [tally(state, 'item'), tally(state, 'quarantine'), oldest(state)]
  const offset = line.time().getTime() - clock.now()
  return {
    agent_id: sender.agentId,
    facility_id: sender.facilityId,
    version,
    queue: {
      pending: items.count,
      quarantined: kept.count,
      oldest_at: first === undefined ? undefined : new Date(first + offset).toISOString(),
      bytes: items.bytes + kept.bytes,
    },
    clock: new Date(clock.now()).toISOString(),
    uptime_seconds: Math.max(0, Math.floor((clock.now() - began) / 1000)),
    warnings: warnings().slice(0, 20),
  }
}

function heard({ state, clock, onConfig, onBegin }: Parts, { body }: Reply): void {
  write(state, 'last_contact', clock.now())
  const isFirst = read(state, 'next_seq') === undefined
  beginAfter(state, body['acked_through_seq'])
  if (isFirst) onBegin()
  const least = body['min_agent_version']
  if (typeof least === 'string' && least !== read(state, 'min_agent_version')) write(state, 'min_agent_version', least)
  const told = body['config_version']
  if ((typeof told === 'string' || typeof told === 'number') && String(told) !== (read(state, 'config_version') ?? ''))
    onConfig()
}

/**
 * A new database, or one that was put back from a copy, goes on where the server is: numbers that the server knows are not
 * given again.
 */
export function beginAfter(state: State, acked: unknown): void {
  if (typeof acked !== 'number' || !Number.isSafeInteger(acked) || acked < 0) return
  const next = read(state, 'next_seq')
  if (next === undefined || acked >= next) write(state, 'next_seq', acked + 1)
}
