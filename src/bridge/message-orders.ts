// Messages that are to be sent because a resource has changed: one waits for each subscription and resource, whatever becomes of the
// resource until the agent asks for it.
import type { Transactional } from '../db/statement.ts'
import { agents } from '../identity/relations.ts'
import { Failure } from '../lib/failure.ts'
import { command, type MessageSource } from './commands.ts'

/** A resource that is to go to a receiver behind an agent. */
export interface MessageOrder extends MessageSource {
  readonly agent: string
  /** The name of the receiver in the settings of the agent. */
  readonly target: string
  /** What the header says of sender and receiver: `MSH-5`. */
  readonly header: Readonly<Record<string, string>>
}

/**
 * Gives an agent the command to send a resource, unless one waits that has not been offered yet: that one brings the resource as it is
 * when the agent asks.
 * @returns `full`: too many commands wait for the agent; `gone`: there is no such active agent
 */
export function orderMessage(database: Transactional, order: MessageOrder): Promise<'queued' | 'full' | 'gone'> {
  const { agent, target, resource, subscription, clientId, header } = order
  return database.transaction(async on => {
    const [known] = await on.query({ text: `select from ${agents} a where a.id = $1 and a.is_active`, values: [agent] })
    if (!known) return 'gone'
    // Waits for an offer that is being made: what it read may be older than this change.
    const [waiting] = await on.query({
      name: 'bridge-message-waiting',
      text: `select id from bridge_command where agent_id = $1 and resource = $2 and subscription = $3 and status = 'pending'
        and resource_version is null order by id limit 1 for update`,
      values: [agent, resource, subscription],
    })
    if (waiting) return 'queued'
    try {
      await command(on, agent, 'send_hl7v2', { target, header }, { resource, subscription, clientId })
      return 'queued'
    } catch (error) {
      if (error instanceof Failure && error.code === 'CONFLICT') return 'full'
      throw error
    }
  })
}
