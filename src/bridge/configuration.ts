// What an agent receives from the service in place of parts of its own file: sources, targets and limits.

import type { Queryable, Transactional } from '../db/statement.ts'
import { type Static, Type } from '../lib/schema.ts'
import { check } from '../shapes/check.ts'
import { command } from './commands.ts'

const named = (description: string) =>
  Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9-]{1,64}$' }), Type.Object({}), { description }))

export const AgentConfig = Type.Object(
  {
    sources: named('Inputs by name, as in the file of the agent.'),
    targets: named('MLLP receivers by name: host, port.'),
    limits: Type.Optional(Type.Object({}, { description: 'Bounds of the queue: bytes, items, age.' })),
  },
  { $id: 'BridgeAgentConfig', additionalProperties: false, description: 'Settings that replace those of the agent.' },
)

export type AgentConfig = Static<typeof AgentConfig>

export interface VersionedConfig {
  readonly version: number
  readonly config: AgentConfig
}

/** Returns the settings for an agent; version 0 if there are none. */
export async function configOf(on: Queryable, agent: string): Promise<VersionedConfig> {
  const [row] = await on.query<{ config: AgentConfig | null; config_version: number }>({
    name: 'bridge-config',
    text: 'select config, config_version from bridge_state where agent_id = $1',
    values: [agent],
  })
  return { version: row?.config_version ?? 0, config: row?.config ?? {} }
}

/** Replaces the settings for an agent and tells it by a command; returns the new version. @throws Failure VALIDATION_FAILED */
export async function configure(on: Transactional, agent: string, config: unknown): Promise<number> {
  check(AgentConfig, config)
  return on.transaction(async within => {
    const [row] = await within.query<{ config_version: number }>({
      text: `insert into bridge_state (agent_id, config, config_version) values ($1, $2::jsonb, 1)
        on conflict (agent_id) do update set config = excluded.config, config_version = bridge_state.config_version + 1
        returning config_version`,
      values: [agent, JSON.stringify(config)],
    })
    const version = row!.config_version
    await command(within, agent, 'config', { version })
    return version
  })
}
