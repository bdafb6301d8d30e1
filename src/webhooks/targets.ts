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
  readonly url: string
  /** What is sent for a task; undefined: there is nothing to send any more. @param now in milliseconds since 1970 */
  outgoing(task: Task, now: number): Outgoing | undefined
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
  readonly secrets: Buffer
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

async function rowsOf(database: Database, tasks: readonly Task[]): Promise<TargetRow[]> {
  if (tasks.length === 0) return []
  return database.query<TargetRow>({
    name: 'webhook-targets',
    isFixed: true,
    text: `select p.key, p.id, p.revision, p.client_id, c.organization_id, c.scopes, p.url, p.media_type, p.watches is not null as is_fhir, p.secrets
      from webhook_endpoint p join client c on c.id = p.client_id where p.key = any($1::bigint[])`,
    values: [safeInt8Array([...new Set(tasks.map(({ endpoint }) => endpoint))])],
  })
}

function targetOf({ encryptionKey, userAgent }: TargetParts, row: TargetRow): Target {
  const { key, revision, id, url, client_id: clientId, organization_id: organizationId } = row
  const permits = grants(row.scopes)
  const target = { key, revision, id, url, clientId, organizationId }
  const agent = { 'user-agent': userAgent }
  if (row.is_fhir) {
    const headers = { ...agent, ...(secretsOf(encryptionKey, id, row.secrets) as unknown as Record<string, string>) }
    return { ...target, outgoing: task => fhirOutgoing(row, headers, permits(typeName(task.source.type), 'r'), task) }
  }
  const secrets = secretsOf(encryptionKey, id, row.secrets)
  return {
    ...target,
    outgoing: (task, now) => eventOutgoing(url, agent, secrets, permits(typeName(task.source.type), 'r'), task, now),
  }
}

function eventOutgoing(
  url: string,
  agent: Record<string, string>,
  secrets: readonly Secret[],
  mayRead: boolean,
  task: Task,
  now: number,
): Outgoing {
  const body = task.resource !== null && mayRead ? withResource(task.body, task.resource) : task.body
  const live = secrets.filter(({ until = Number.POSITIVE_INFINITY }) => until > now).map(({ secret }) => secret)
  return {
    method: 'POST',
    url,
    headers: {
      ...agent,
      'content-type': 'application/json; charset=utf-8',
      ...signatureHeaders(live, task.event, Math.floor(now / 1000), body),
      ...(task.isReplay ? { 'x-service-replay': 'true' } : {}),
    },
    body,
  }
}

/**
 * Without a media type only the word that something has changed; otherwise the resource as it is now, at its place below the
 * endpoint, so that the last thing sent is always the newest (https://hl7.org/fhir/R4/subscription.html#2.46.7.1).
 */
function fhirOutgoing(
  { url, media_type: mediaType }: TargetRow,
  headers: Record<string, string>,
  mayRead: boolean,
  { resource, source }: Task,
): Outgoing | undefined {
  if (!mayRead) return undefined
  if (mediaType === null) return { method: 'POST', url, headers, body: '' }
  if (resource === null) return undefined
  return {
    method: 'PUT',
    url: `${url.replace(/\/$/, '')}/${typeName(source.type)}/${source.id}`,
    headers: { ...headers, 'content-type': `${mediaType}; charset=utf-8` },
    body: resource,
  }
}
