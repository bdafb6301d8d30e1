// Where a delivery goes and its form on the wire: an event, signed, or the notification of a FHIR subscription.

import { grants } from '../access/scopes.ts'
import { safeInt8Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import { withoutHealthId, withResource } from '../events/envelope.ts'
import { clients } from '../identity/relations.ts'
import type { Outgoing } from '../outbound/send.ts'
import { signatureHeaders, signingKey } from '../outbound/signature.ts'
import { typeName } from '../store/type-number.ts'
import { secretsOf } from './endpoints.ts'
import { receiverOf } from './message-channel.ts'
import type { Look, PayloadKind, Task } from './queue.ts'

/** Why nothing is sent. */
export interface Unsent {
  readonly reason: string
  /** False if a later attempt may succeed. */
  readonly isFinal: boolean
}

/** What a Bridge agent is to send to one of its receivers, in place of a request. */
export interface Handover {
  readonly agent: string
  readonly target: string
  /** `Type/id` */
  readonly resource: string
  /** `Subscription/id` */
  readonly subscription: string
  readonly clientId: string
  /** What the header of the message says of sender and receiver. */
  readonly header: Readonly<Record<string, string>>
}

/** An endpoint as deliveries need it. */
export interface Target {
  readonly key: number
  readonly revision: number
  readonly id: string
  readonly clientId: string
  readonly organizationId: string
  /** Returns what is checked again immediately before something is sent; undefined: nothing, if it is sent without delay. */
  wants(task: Task): PayloadKind | undefined
  /** Returns what is sent for a task, or why nothing is. @param look the state of the task, if it was checked */
  outgoing(task: Task, look: Look | undefined): Outgoing | Handover | Unsent
}

export interface Targets {
  /** Returns the targets of tasks; none for an endpoint that is gone or has changed since they were taken. */
  of(tasks: readonly Task[]): Promise<ReadonlyMap<number, Target>>
}

export interface TargetParts {
  readonly database: Database
  readonly encryptionKey: Buffer
  /** Name and version that receivers see. */
  readonly userAgent: string
}

/** Targets that are cached. */
const mostKnown = 10_000

export function createTargets(parts: TargetParts): Targets {
  const known = new Map<number, Target>()
  return {
    async of(tasks) {
      if (known.size > mostKnown) known.clear()
      const unknown = tasks.filter(({ endpoint, revision }) => known.get(endpoint)?.revision !== revision)
      if (unknown.length > 0)
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
  readonly url: string
  readonly media_type: string | null
  readonly is_fhir: boolean
  readonly is_full: boolean
  readonly secrets: Buffer
}

function rowsOf(database: Database, tasks: readonly Task[]): Promise<TargetRow[]> {
  return database.query<TargetRow>({
    name: 'webhook-targets',
    isFixed: true,
    text: `select p.key, p.id, p.revision, p.client_id, c.organization_id, p.url, p.media_type, p.watches is not null as is_fhir,
        p.is_full, p.secrets
      from webhook_endpoint p join ${clients} c on c.id = p.client_id where p.key = any($1::bigint[])`,
    values: [safeInt8Array([...new Set(tasks.map(({ endpoint }) => endpoint))])],
  })
}

function targetOf(parts: TargetParts, row: TargetRow): Target {
  const { key, revision, id, client_id: clientId, organization_id: organizationId } = row
  return { key, revision, id, clientId, organizationId, ...wayOf(parts, row) }
}

const unreadable: Unsent = { reason: 'its secrets cannot be decrypted with this ENCRYPTION_KEY', isFinal: false }

const never = (reason: string): Unsent => ({ reason, isFinal: true })

/** An endpoint whose secrets cannot be read, since they were sealed with another key, does not delay the others. */
function wayOf(parts: TargetParts, row: TargetRow): Way {
  try {
    const receiver = receiverOf(row.url)
    if (receiver) return messageWay(parts, row, receiver)
    return row.is_fhir ? fhirWay(parts, row) : eventWay(parts, row)
  } catch {
    return { wants: () => undefined, outgoing: () => unreadable }
  }
}

type Way = Pick<Target, 'wants' | 'outgoing'>

function eventWay({ encryptionKey, userAgent }: TargetParts, row: TargetRow): Way {
  const secrets = secretsOf(encryptionKey, row.id, row.secrets)
  const keys = secrets.map(({ secret, until = Number.POSITIVE_INFINITY }) => ({ until, key: signingKey(secret) }))
  return {
    wants: ({ isOfReaders }) => (row.is_full && isOfReaders ? 'version' : undefined),
    outgoing(task, look) {
      const now = Date.now()
      const body = bodyFor(task, look)
      const live = keys.flatMap(({ until, key }) => (until > now ? [key] : []))
      return {
        method: 'POST',
        url: row.url,
        headers: {
          'user-agent': userAgent,
          'content-type': 'application/json; charset=utf-8',
          ...signatureHeaders(live, task.event, Math.floor(now / 1000), body),
          ...(task.isReplay ? { 'x-service-replay': 'true' } : {}),
        },
        body,
      }
    },
  }
}

function bodyFor(task: Task, look: Look | undefined): string {
  const { knowsPatient } = look ?? task
  const body = knowsPatient ? task.body : withoutHealthId(task.body)
  return look?.resource && mayRead(look, task) ? withResource(body, look.resource) : body
}

const mayRead = ({ scopes }: Look, { source }: Task): boolean => grants(scopes)(typeName(source.type), 'r')

/** The message is made when the agent asks for it: what the client may read then decides once more. */
function messageWay(
  { encryptionKey }: TargetParts,
  row: TargetRow,
  receiver: NonNullable<ReturnType<typeof receiverOf>>,
): Way {
  const header = secretsOf(encryptionKey, row.id, row.secrets) as unknown as Record<string, string>
  return {
    wants: () => 'nothing',
    outgoing(task, look) {
      if (!look || !mayRead(look, task)) return never(unreadableResource)
      const resource = `${typeName(task.source.type)}/${task.source.id}`
      return { ...receiver, resource, subscription: row.id, clientId: row.client_id, header }
    },
  }
}

const unreadableResource = 'the scopes of the client no longer permit access to the resource'

/**
 * Without a media type, the request only notifies of a change; otherwise it carries the current resource, at its place
 * below the endpoint, so that the last request always carries the newest version
 * (https://hl7.org/fhir/R4/subscription.html#2.46.7.1). The resource is read when it is sent, not with the tasks:
 * resources may be large, and no more of them are in memory than are being sent.
 */
function fhirWay({ encryptionKey, userAgent }: TargetParts, row: TargetRow): Way {
  const { url, media_type: mediaType } = row
  const own = secretsOf(encryptionKey, row.id, row.secrets) as unknown as Record<string, string>
  const headers = { 'user-agent': userAgent, ...own }
  return {
    wants: () => (mediaType === null ? 'nothing' : 'current'),
    outgoing(task, look) {
      if (!look || !mayRead(look, task)) return never(unreadableResource)
      if (mediaType === null) return { method: 'POST', url, headers, body: '' }
      if (look.resource === null) return never('the resource no longer exists')
      // In a URL such an id is a path to another place.
      if (/^\.\.?$/.test(task.source.id)) return never('the id of the resource cannot be used in a URL')
      return {
        method: 'PUT',
        url: `${url.replace(/\/$/, '')}/${typeName(task.source.type)}/${task.source.id}`,
        headers: { ...headers, 'content-type': `${mediaType}; charset=utf-8` },
        body: look.resource,
      }
    },
  }
}
