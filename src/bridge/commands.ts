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

/** The resource that a message is made of when the agent asks for the command. */
export interface MessageSource {
  /** `Type/id` */
  readonly resource: string
  /** `Subscription/id`, which asks for it. */
  readonly subscription: string
  /** The client that subscribed, in whose name the resource is read. */
  readonly clientId: string
}

/** A command that waits, as it is stored. */
export interface PendingCommand extends Command {
  readonly source: MessageSource | undefined
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
 * @param source of the message that it sends, if that is made of a resource
 * @throws Failure CONFLICT if too many wait.
 */
export async function command(
  on: Queryable,
  agent: string,
  type: CommandType,
  payload: JsonObject,
  source?: MessageSource,
): Promise<string> {
  const [row] = await on.query<{ id: string }>({
    name: 'bridge-command',
    text: `insert into bridge_command (agent_id, type, payload, resource, subscription, client_id)
      select $1, $2, $3::jsonb, $4, $5, $6
      where (select count(*) from bridge_command where agent_id = $1 and status = 'pending') < ${mostPending}
      returning id::text`,
    values: [
      ...[agent, type, JSON.stringify(payload)],
      ...[source?.resource ?? null, source?.subscription ?? null, source?.clientId ?? null],
    ],
  })
  if (row) {
    await ring(on, agent)
    return row.id
  }
  throw new Failure('CONFLICT', `More than ${mostPending} commands wait for the agent: is it running?`)
}

/** Returns the commands after one (id) that wait for an agent, oldest first, and whether there are more. */
export async function pendingCommands(
  on: Queryable,
  agent: string,
  after: string,
): Promise<{ readonly commands: readonly PendingCommand[]; readonly isMore: boolean }> {
  const rows = await on.query<CommandRow>({
    name: 'bridge-commands',
    text: `select id::text, type, payload, created_at, resource, subscription, client_id from bridge_command
      where agent_id = $1 and status = 'pending' and id > $2::bigint order by id limit ${mostOffered}`,
    values: [agent, after],
  })
  return { commands: rows.map(toPending), isMore: rows.length === mostOffered }
}

/** What a message is made of, in its columns. */
export interface SourceRow {
  readonly resource: string | null
  readonly subscription: string | null
  readonly client_id: string | null
}

/** Returns what a message is made of; undefined if the payload is all. */
export const sourceIn = ({ resource, subscription, client_id }: SourceRow): MessageSource | undefined =>
  resource === null ? undefined : { resource, subscription: subscription!, clientId: client_id! }

interface CommandRow extends SourceRow {
  readonly id: string
  readonly type: CommandType
  readonly payload: JsonObject
  readonly created_at: Date
}

const toPending = ({ id, type, payload, created_at, ...row }: CommandRow): PendingCommand => ({
  ...{ id, type, payload, createdAt: created_at },
  source: sourceIn(row),
})

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
    text: `update bridge_command set status = $3, message = $4, acknowledged_at = now(),
        payload = case when $3 = 'done' then payload - 'message' else payload end
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
