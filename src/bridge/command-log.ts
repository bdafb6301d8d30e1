// What became of commands, for administrators: list them, and give one that failed once more.
import type { Queryable, Transactional } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import { type CommandType, command, type SourceRow, sourceIn } from './commands.ts'

export interface LoggedCommand {
  readonly id: string
  readonly type: CommandType
  readonly status: 'pending' | 'done' | 'failed' | 'repeated'
  /** What the agent said of the outcome, or why the service did not offer it. */
  readonly message: string | undefined
  /** `Type/id` of what the message is made of. */
  readonly resource: string | undefined
  readonly createdAt: Date
  readonly endedAt: Date | undefined
}

/** Most commands that are listed. */
export const mostListed = 200

/** Returns the newest commands for an agent, the newest first. @param status only those with this status */
export async function listCommands(
  on: Queryable,
  agent: string,
  status: LoggedCommand['status'] | undefined,
): Promise<LoggedCommand[]> {
  const rows = await on.query<LoggedRow>({
    text: `select id::text, type, status, message, resource, created_at, acknowledged_at from bridge_command
      where agent_id = $1 and ($2::text is null or status = $2) order by bridge_command.id desc limit ${mostListed}`,
    values: [agent, status ?? null],
  })
  return rows.map(({ id, type, status, message, resource, created_at, acknowledged_at }) => ({
    ...{ id, type, status, createdAt: created_at },
    message: message ?? undefined,
    resource: resource ?? undefined,
    endedAt: acknowledged_at ?? undefined,
  }))
}

interface LoggedRow {
  readonly id: string
  readonly type: CommandType
  readonly status: LoggedCommand['status']
  readonly message: string | null
  readonly resource: string | null
  readonly created_at: Date
  readonly acknowledged_at: Date | null
}

/**
 * Gives a command that failed once more, as a new one, and returns its id. A message of a resource is made of the resource as it is now.
 * @throws Failure NOT_FOUND; CONFLICT if it has not failed
 */
export function repeatCommand(database: Transactional, agent: string, id: string): Promise<string> {
  return database.transaction(async on => {
    const [found] = await on.query<RepeatedRow>({
      text: `select type, payload, status, resource, subscription, client_id from bridge_command
        where agent_id = $1 and id = $2::bigint for update`,
      values: [agent, id],
    })
    if (!found) throw new Failure('NOT_FOUND', 'This agent has no such command.')
    if (found.status !== 'failed')
      throw new Failure('CONFLICT', `The command is ${found.status}: only a failed one is repeated.`)
    await on.run({ text: `update bridge_command set status = 'repeated' where id = $1::bigint`, values: [id] })
    return command(on, agent, found.type, found.payload, sourceIn(found))
  })
}

interface RepeatedRow extends SourceRow {
  readonly type: CommandType
  readonly payload: JsonObject
  readonly status: string
}
