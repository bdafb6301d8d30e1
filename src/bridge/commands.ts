// What an agent is to do. A command is offered, oldest first, until the agent says what became of it.
import type { Queryable } from '../db/statement.ts'
import { takeKey } from '../identity/agents.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import { ring } from './bell.ts'

export const commandTypes = ['config', 'rotate_key', 'retry_quarantine', 'send_hl7v2', 'update_available'] as const

export type CommandType = (typeof commandTypes)[number]

export interface Command {
  readonly id: string
  readonly type: CommandType
  readonly payload: JsonObject
  readonly createdAt: Date
}

export interface Outcome {
  readonly status: 'done' | 'failed'
  /** What the agent says of it. */
  readonly message: string | undefined
  /** SHA-256 of a new key, in hexadecimal, for rotate_key. */
  readonly key: string | undefined
}

/** Most commands that are offered at once. */
const mostOffered = 50
/** Most commands that wait for one agent. */
const mostPending = 10_000

/**
 * Adds a command for an agent, and returns its id.
 * @throws Failure CONFLICT if too many wait.
 */
export async function command(on: Queryable, agent: string, type: CommandType, payload: JsonObject): Promise<string> {
  const [row] = await on.query<{ id: string }>({
    name: 'bridge-command',
    text: `insert into bridge_command (agent_id, type, payload) select $1, $2, $3::jsonb
      where (select count(*) from bridge_command where agent_id = $1 and status = 'pending') < ${mostPending}
      returning id::text`,
    values: [agent, type, JSON.stringify(payload)],
  })
  if (row) {
    await ring(on, agent)
    return row.id
  }
  throw new Failure('CONFLICT', `More than ${mostPending} commands wait for the agent: is it running?`)
}

/** Returns the commands after one (id) that wait for an agent, oldest first. */
export async function pendingCommands(on: Queryable, agent: string, after = '0'): Promise<Command[]> {
  const rows = await on.query<{ id: string; type: CommandType; payload: JsonObject; created_at: Date }>({
    name: 'bridge-commands',
    text: `select id::text, type, payload, created_at from bridge_command
      where agent_id = $1 and status = 'pending' and id > $2::bigint order by id limit ${mostOffered}`,
    values: [agent, after],
  })
  return rows.map(({ id, type, payload, created_at }) => ({ id, type, payload, createdAt: created_at }))
}

/** Returns how many commands wait for an agent. */
export async function countCommands(on: Queryable, agent: string): Promise<number> {
  const [row] = await on.query<{ count: number }>({
    name: 'bridge-count-commands',
    text: `select count(*)::int as count from bridge_command where agent_id = $1 and status = 'pending'`,
    values: [agent],
  })
  return row!.count
}

/**
 * Ends a command; the same again changes nothing. A new key that the agent made for rotate_key is valid from then on.
 * @throws Failure NOT_FOUND; VALIDATION_FAILED for rotate_key without a key; CONFLICT if it ended otherwise before.
 */
export async function acknowledge(on: Queryable, agent: string, id: string, outcome: Outcome): Promise<void> {
  const [found] = await on.query<{ type: CommandType; status: string }>({
    name: 'bridge-command-find',
    text: 'select type, status from bridge_command where agent_id = $1 and id = $2::bigint for update',
    values: [agent, id],
  })
  if (!found) throw new Failure('NOT_FOUND', 'This agent has no such command.')
  const { status, message, key } = outcome
  if (found.status !== 'pending' && found.status !== status)
    throw new Failure('CONFLICT', `The command was acknowledged as ${found.status} before.`)
  if (found.type === 'rotate_key' && status === 'done') await rotated(on, agent, key)
  await on.run({
    name: 'bridge-command-end',
    text: `update bridge_command set status = $3, message = $4, acknowledged_at = now()
      where agent_id = $1 and id = $2::bigint and status = 'pending'`,
    values: [agent, id, status, message ?? null],
  })
}

async function rotated(on: Queryable, agent: string, key: string | undefined): Promise<void> {
  if (key !== undefined) return takeKey(on, agent, Buffer.from(key, 'hex'))
  throw new Failure('VALIDATION_FAILED', 'key_sha256 is required: the SHA-256 of the new key.', {
    details: [{ field: 'key_sha256', code: 'required', message: 'is required for rotate_key' }],
  })
}
