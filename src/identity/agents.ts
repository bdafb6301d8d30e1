// Bridge agents and their keys (interface §5.2): administration, and authentication of requests.
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { randomText } from '../lib/ids.ts'
import { digestOf, isDigestOf, newOpaque } from './opaque.ts'

export interface Agent {
  readonly id: string
  readonly name: string
  readonly facilityId: string
  readonly createdAt: Date
  readonly rotatedAt?: Date
  readonly revokedAt?: Date
}

const newKey = (): string => newOpaque('bak_')

/** Creates an agent. Its key is returned once and cannot be read again. */
export async function createAgent(
  database: Database,
  { name, facilityId }: { readonly name: string; readonly facilityId: string },
): Promise<{ agent: Agent; key: string }> {
  const key = newKey()
  const [row] = await database.query<AgentRow>({
    text: `insert into bridge_agent (id, name, facility_id, hash) values ($1, $2, $3, $4) returning *`,
    values: [`agt_${randomText(20)}`, name, facilityId, digestOf(key)],
  })
  return { agent: toAgent(row!), key }
}

/**
 * Gives the agent a new key. The previous key works for the overlap; an older one ends at once.
 * @param overlap seconds; 0 ends the old key at once.
 * @throws Failure NOT_FOUND if there is no such agent, or it is revoked.
 */
export async function rotateKey(database: Database, id: string, overlap: number): Promise<string> {
  const key = newKey()
  const rows = await database.query({
    text: `update bridge_agent set hash = $2, previous_hash = hash, rotated_at = now(),
        previous_expires_at = now() + make_interval(secs => $3)
      where id = $1 and revoked_at is null returning id`,
    values: [id, digestOf(key), overlap],
  })
  if (rows.length === 0) throw new Failure('NOT_FOUND', `There is no active agent ${id.slice(0, 100)}.`)
  return key
}

/** Revokes an agent permanently, from the next request on. @throws Failure NOT_FOUND. */
export async function revokeAgent(database: Database, id: string): Promise<void> {
  const rows = await database.query({
    text: 'update bridge_agent set revoked_at = coalesce(revoked_at, now()) where id = $1 returning id',
    values: [id],
  })
  if (rows.length === 0) throw new Failure('NOT_FOUND', `There is no agent ${id.slice(0, 100)}.`)
}

/** Returns every agent, oldest first. */
export async function listAgents(database: Database): Promise<Agent[]> {
  const rows = await database.query<AgentRow>({
    text: 'select * from bridge_agent order by created_at, id',
    values: [],
  })
  return rows.map(toAgent)
}

/** Returns the agent that an id and a key prove, or undefined if they do not prove one, or it is revoked. */
export async function findAgent(on: Queryable, id: string, key: string): Promise<Agent | undefined> {
  if (!/^[\x21-\x7e]{1,100}$/.test(id)) return undefined
  const [row] = await on.query<AgentRow & { overlapping_hash: Buffer | null }>({
    name: 'bridge-agent',
    isFixed: true,
    text: `select *, case when previous_expires_at > now() then previous_hash end as overlapping_hash from bridge_agent
      where id = $1 and revoked_at is null`,
    values: [id],
  })
  if (!row) return undefined
  const isProven = [row.hash, row.overlapping_hash].some(hash => hash !== null && isDigestOf(hash, key))
  return isProven ? toAgent(row) : undefined
}

interface AgentRow {
  readonly id: string
  readonly name: string
  readonly facility_id: string
  readonly hash: Buffer
  readonly created_at: Date
  readonly rotated_at: Date | null
  readonly revoked_at: Date | null
}

function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    name: row.name,
    facilityId: row.facility_id,
    createdAt: row.created_at,
    rotatedAt: row.rotated_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}
