// Where a delivery goes and what it looks like on the wire: an event, signed, or the word of a FHIR subscription.
import { safeInt8Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import { withResource } from '../events/envelope.ts'
import { grants } from '../policy/scopes.ts'
import { typeName } from '../store/type-number.ts'
import { type Secret, secretsOf } from './endpoints.ts'
import type { Outgoing } from './outbound/send.ts'
import { signatureHeaders } from './outbound/signature.ts'
import type { Task } from './queue.ts'

/** An endpoint as deliveries need it. */
export interface Target {
  readonly key: number
  readonly revision: number
  readonly id: string
  readonly clientId: string
  readonly organizationId: string
  /** What is sent for a task; undefined: there is nothing to send any more. */
  outgoing(task: Task): Promise<Outgoing | undefined>
}

export interface Targets {
  /** The targets of tasks; none for an endpoint that is gone or has changed since they were taken. */
  of(tasks: readonly Task[]): Promise<ReadonlyMap<number, Target>>
}

export interface TargetParts {
  readonly database: Database
  readonly encryptionKey: Buffer
  /** Name and version that receivers see. */
  readonly userAgent: string
}

export function createTargets(parts: TargetParts): Targets {
  const known = new Map<number, Target>()
  return {
    async of(tasks) {
      const unknown = tasks.filter(({ endpoint, revision }) => known.get(endpoint)?.revision !== revision)
      for (const row of await rowsOf(parts.database, unknown)) known.set(row.key, targetOf(parts, row))
      return new Map(
        tasks.flatMap(({ endpoint, revision }) => {
          const target = known.get(endpoint)
          return target?.revision === revision ? [[endpoint, target]] : []
        }),
      )
    },
  }
}

interface TargetRow {
  readonly key: number
  readonly id: string
  readonly revision: number
  readonly client_id: string
  readonly organization_id: string
  readonly scopes: string[]
  readonly url: string
  readonly media_type: string | null
  readonly is_fhir: boolean
  readonly is_full: boolean
  readonly secrets: Buffer
}

async function rowsOf(database: Database, tasks: readonly Task[]): Promise<TargetRow[]> {
  if (tasks.length === 0) return []
  return database.query<TargetRow>({
    name: 'webhook-targets',
    isFixed: true,
    text: `select p.key, p.id, p.revision, p.client_id, c.organization_id, c.scopes, p.url, p.media_type, p.watches is not null as is_fhir,
        p.is_full, p.secrets
      from webhook_endpoint p join client c on c.id = p.client_id where p.key = any($1::bigint[])`,
    values: [safeInt8Array([...new Set(tasks.map(({ endpoint }) => endpoint))])],
  })
}

function targetOf(parts: TargetParts, row: TargetRow): Target {
  const { key, revision, id, client_id: clientId, organization_id: organizationId } = row
  const outgoing = row.is_fhir ? fhirOutgoing(parts, row) : eventOutgoing(parts, row)
  return { key, revision, id, clientId, organizationId, outgoing }
}

function eventOutgoing({ database, encryptionKey, userAgent }: TargetParts, row: TargetRow): Target['outgoing'] {
  const secrets = secretsOf(encryptionKey, row.id, row.secrets)
  const permits = grants(row.scopes)
  return async task => {
    const isWhole = row.is_full && task.isOfReaders && permits(typeName(task.source.type), 'r')
    const resource = isWhole ? await versionOf(database, task) : undefined
    const body = resource === undefined ? task.body : withResource(task.body, resource)
    const now = Date.now()
    return {
      method: 'POST',
      url: row.url,
      headers: {
        'user-agent': userAgent,
        'content-type': 'application/json; charset=utf-8',
        ...signatureHeaders(live(secrets, now), task.event, Math.floor(now / 1000), body),
        ...(task.isReplay ? { 'x-service-replay': 'true' } : {}),
      },
      body,
    }
  }
}

const live = (secrets: readonly Secret[], now: number): string[] =>
  secrets.filter(({ until = Number.POSITIVE_INFINITY }) => until > now).map(({ secret }) => secret)

/**
 * Without a media type only the word that something has changed; otherwise the resource as it is now, at its place below the
 * endpoint, so that the last thing sent is always the newest (https://hl7.org/fhir/R4/subscription.html#2.46.7.1).
 */
function fhirOutgoing({ database, encryptionKey, userAgent }: TargetParts, row: TargetRow): Target['outgoing'] {
  const { url, media_type: mediaType } = row
  const own = secretsOf(encryptionKey, row.id, row.secrets) as unknown as Record<string, string>
  const headers = { 'user-agent': userAgent, ...own }
  const permits = grants(row.scopes)
  return async task => {
    const type = typeName(task.source.type)
    if (!permits(type, 'r')) return undefined
    if (mediaType === null) return { method: 'POST', url, headers, body: '' }
    const body = await currentOf(database, task)
    if (body === undefined) return undefined
    return {
      method: 'PUT',
      url: `${url.replace(/\/$/, '')}/${type}/${task.source.id}`,
      headers: { ...headers, 'content-type': `${mediaType}; charset=utf-8` },
      body,
    }
  }
}

// Read when it is sent, not with the tasks: resources may be large, and no more of them are in memory than are being sent.

async function versionOf(database: Database, { source: { type, id, version } }: Task): Promise<string | undefined> {
  const [row] = await database.query<{ body: string }>({
    name: 'webhook-version',
    isFixed: true,
    text: `select body from resource where type = $1::smallint and id = $2 and version = $3::integer
      union all select body from history where type = $1::smallint and id = $2 and version = $3::integer and body is not null`,
    values: [type, id, version],
  })
  return row?.body
}

async function currentOf(database: Database, { source: { type, id } }: Task): Promise<string | undefined> {
  const [row] = await database.query<{ body: string }>({
    name: 'webhook-current',
    isFixed: true,
    text: 'select body from resource where type = $1::smallint and id = $2',
    values: [type, id],
  })
  return row?.body
}
