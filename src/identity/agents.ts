// Bridge agents and their keys (interface §5.2): administration, and authentication of requests.
import { type AgentCaller, agentCaller } from '../access/caller.ts'
import type { Credentials } from '../access/scheme.ts'
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { randomText } from '../lib/ids.ts'
import { digestOf, isDigestOf, newOpaque } from './opaque.ts'
import { mustBeResourceId } from './resource-id.ts'

export interface Agent {
  readonly id: string
  readonly name: string
  readonly facilityId: string
  /** The organisation that what it writes belongs to. */
  readonly organizationId: string
  readonly createdAt: Date
  readonly rotatedAt?: Date
  readonly revokedAt?: Date
}

const newKey = (): string => newOpaque('bak_')

/**
 * Creates an agent. Its key is returned once and cannot be read again.
 * @throws Failure VALIDATION_FAILED for a facility or an organisation that is no id.
 */
export async function createAgent(
  database: Database,
  {
    name,
    facilityId,
    organizationId,
  }: { readonly name: string; readonly facilityId: string; readonly organizationId: string },
): Promise<{ agent: Agent; key: string }> {
  mustBeResourceId(facilityId, 'facility')
  mustBeResourceId(organizationId, 'organization')
  const key = newKey()
  const [row] = await database.query<AgentRow>({
    text: `insert into bridge_agent (id, name, facility_id, organization_id, hash) values ($1, $2, $3, $4, $5)
      returning *`,
    values: [`agt_${randomText(20)}`, name, facilityId, organizationId, digestOf(key)],
  })
  return { agent: toAgent(row!), key }
}

/**
 * Makes a key that the agent has made itself valid, by its hash; the previous one remains valid for a day. Doing it again is harmless.
 * @param hash SHA-256 of the key
 */
export async function takeKey(on: Queryable, id: string, hash: Buffer): Promise<void> {
  await on.query({
    text: `update bridge_agent set hash = $2, previous_hash = hash, rotated_at = now(),
        previous_expires_at = now() + make_interval(secs => $3)
      where id = $1 and revoked_at is null and hash <> $2`,
    values: [id, hash, overlapByCommand],
  })
}

/** Seconds. */
const overlapByCommand = 86_400

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
export async function listAgents(on: Queryable): Promise<Agent[]> {
  const rows = await on.query<AgentRow>({
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

const mostSkew = 300
const challenge = { 'www-authenticate': 'BridgeAgent realm="health-interop"' }

/**
 * Authenticates a request of an agent by its three headers.
 * @throws Failure INVALID_AGENT; CLOCK_SKEW with the time of the service if the clocks differ by more than 300 seconds.
 */
export function agentAuthenticator(
  database: Queryable,
  now: () => number,
): (credentials: Pick<Credentials, 'headers'>) => Promise<AgentCaller> {
  return async ({ headers }) => {
    const header = (name: string): string => String(headers[`x-bridge-${name}`] ?? '')
    const agent = await findAgent(database, header('agent-id'), header('agent-key'))
    if (!agent)
      throw new Failure(
        'INVALID_AGENT',
        'X-Bridge-Agent-ID and X-Bridge-Agent-Key are not those of an active Bridge agent: check both, or enrol the agent again.',
        { headers: challenge },
      )
    mustBeCurrent(header('timestamp'), now())
    return agentCaller(agent)
  }
}

function mustBeCurrent(timestamp: string, now: number): void {
  const isTime = /^\d{1,12}$/.test(timestamp)
  const skew = isTime ? Math.round(Number(timestamp) - now / 1000) : 0
  if (isTime && Math.abs(skew) <= mostSkew) return
  const message = isTime
    ? `The clock of the agent is ${Math.abs(skew)} seconds ${skew > 0 ? 'ahead' : 'behind'}: at most ${mostSkew} are allowed. Correct it by server_time.`
    : 'X-Bridge-Timestamp must be the Unix time in seconds.'
  throw new Failure('CLOCK_SKEW', message, { headers: challenge, extra: { server_time: new Date(now).toISOString() } })
}

interface AgentRow {
  readonly id: string
  readonly name: string
  readonly facility_id: string
  readonly organization_id: string
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
    organizationId: row.organization_id,
    createdAt: row.created_at,
    rotatedAt: row.rotated_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }
}
