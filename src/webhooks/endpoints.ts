// The subscriptions of Connect in their table (interface §2.13). Each belongs to the client that made it, whose rights
// decide which events it receives; its secrets are stored sealed, since they are needed to sign.
import type { Queryable, Transactional } from '../db/statement.ts'
import { clients } from '../identity/relations.ts'
import { seal, unseal } from '../lib/encryption.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { randomText } from '../lib/ids.ts'
import { newWebhookSecret } from '../outbound/signature.ts'
import { authorHash } from '../store/author.ts'
import { typeName } from '../store/type-number.ts'

export interface Endpoint {
  readonly key: number
  /** whs_… */
  readonly id: string
  readonly clientId: string
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
  readonly isFull: boolean
  readonly isActive: boolean
  readonly disabledBecause: string | undefined
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly lastDeliveryAt: Date | undefined
  /** Attempts that failed since one succeeded. */
  readonly failures: number
}

interface EndpointRow {
  readonly key: number
  readonly id: string
  readonly client_id: string
  readonly url: string
  readonly events: string[]
  readonly description: string
  readonly is_full: boolean
  readonly is_active: boolean
  readonly disabled_because: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_delivery_at: Date | null
  readonly failures: number | null
}

const toEndpoint = (row: EndpointRow): Endpoint => ({
  ...{ key: row.key, id: row.id, clientId: row.client_id, url: row.url, events: row.events },
  ...{ description: row.description, isFull: row.is_full, isActive: row.is_active },
  ...{ createdAt: row.created_at, updatedAt: row.updated_at, failures: row.failures ?? 0 },
  disabledBecause: row.disabled_because ?? undefined,
  lastDeliveryAt: row.last_delivery_at ?? undefined,
})

/** The owner of an endpoint. */
export interface Owner {
  readonly clientId: string
  readonly organizationId: string
}

/** The settings of an endpoint that a client gives. */
export interface Wish {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
}

/** A secret that deliveries are signed with. */
export interface Secret {
  readonly secret: string
  /** Milliseconds since 1970 at which it ends; absent: it does not. */
  readonly until?: number
}

const contextOf = (id: string): string => `webhook ${id}`

/** Returns the secrets of an endpoint, the newest first. @param id of the endpoint */
export const secretsOf = (key: Buffer, id: string, sealed: Buffer): Secret[] =>
  JSON.parse(unseal(key, sealed, contextOf(id))) as Secret[]

/** Seals what is kept secret of an endpoint. */
export const sealFor = (key: Buffer, id: string, secrets: unknown): Buffer =>
  seal(key, JSON.stringify(secrets), contextOf(id))

/** Locks the endpoints of the client until the transaction ends, so that they can be counted. */
export async function aloneFor(on: Queryable, clientId: string): Promise<void> {
  await on.query({ text: 'select pg_advisory_xact_lock(3, hashtext($1))', values: [clientId] })
}

/** How many endpoints of each kind one client may have. */
export const mostOfClient = 100

/**
 * Creates an endpoint, within a transaction; its secret is returned once.
 * @throws Failure CONFLICT if the client has as many as it may.
 */
export async function createEndpoint(
  on: Queryable,
  key: Buffer,
  { clientId, organizationId }: Owner,
  { url, events, description }: Wish,
): Promise<{ endpoint: Endpoint; secret: string }> {
  const id = `whs_${randomText(24)}`
  const secret = newWebhookSecret()
  await aloneFor(on, clientId)
  const [row] = await on.query<EndpointRow>({
    text: `insert into webhook_endpoint (id, client_id, author, organization, url, events, description, secrets)
      select $1, $2, $3, $4, $5, $6, $7, $8
      where (select count(*) from webhook_endpoint where client_id = $2 and watches is null) < ${mostOfClient}
      returning *, null as last_delivery_at, null as failures`,
    values: [
      id,
      clientId,
      authorHash(clientId),
      hash64(`Organization/${organizationId}`),
      url,
      events,
      description,
      sealFor(key, id, [{ secret }]),
    ],
  })
  if (!row)
    throw new Failure('CONFLICT', `A client can have at most ${mostOfClient} subscriptions: delete an unused one.`)
  return { endpoint: toEndpoint(row), secret }
}

const selected = `select p.*, h.last_delivery_at, h.failures from webhook_endpoint p left join webhook_health h on h.endpoint = p.key`
const isOfConnect = 'p.watches is null'
/** The key of a client's own endpoint. */
const own = `(select key from webhook_endpoint p where p.id = $1 and p.client_id = $2 and ${isOfConnect})`

/** Returns a client's own endpoint. @throws Failure NOT_FOUND for any other. */
export async function findEndpoint(on: Queryable, id: string, clientId: string): Promise<Endpoint> {
  const [row] = await on.query<EndpointRow>({
    text: `${selected} where p.id = $1 and p.client_id = $2 and ${isOfConnect}`,
    values: [id, clientId],
  })
  return toEndpoint(row ?? missing())
}

function missing(): never {
  throw new Failure(
    'NOT_FOUND',
    'This client has no subscription with this id: list the subscriptions to see their ids.',
  )
}

/** Returns a client's endpoints in the order in which they were made. @param after key of the last known one */
export async function listEndpoints(
  on: Queryable,
  clientId: string,
  after: number,
  limit: number,
): Promise<Endpoint[]> {
  const rows = await on.query<EndpointRow>({
    text: `${selected} where p.client_id = $1 and p.key > $2 and ${isOfConnect} order by p.key limit $3`,
    values: [clientId, after, limit],
  })
  return rows.map(toEndpoint)
}

/** Changes the named settings. Enabling an endpoint again resets its failures. @throws Failure NOT_FOUND */
export async function changeEndpoint(
  on: Queryable,
  id: string,
  clientId: string,
  { url, events, description, isActive }: Partial<Wish> & { readonly isActive?: boolean },
): Promise<Endpoint> {
  if (isActive === true)
    await on.query({
      text: `update webhook_health set failures = 0, failing_since = null
        where endpoint = ${own}`,
      values: [id, clientId],
    })
  const [row] = await on.query<EndpointRow>({
    text: `with changed as (
        update webhook_endpoint p set url = coalesce($3::text, url), events = coalesce($4::text[], events), description = coalesce($5::text, description),
          disabled_because = case when $6::boolean is null then disabled_because when $6::boolean then null else 'the client has disabled it' end,
          is_active = coalesce($6::boolean, is_active), updated_at = now(), revision = revision + 1
        where p.id = $1 and p.client_id = $2 and ${isOfConnect} returning *
      )
      select p.*, h.last_delivery_at, h.failures from changed p left join webhook_health h on h.endpoint = p.key`,
    values: [id, clientId, url ?? null, events ?? null, description ?? null, isActive ?? null],
  })
  return toEndpoint(row ?? missing())
}

/** Removes an endpoint, and all deliveries still to be made to it. @throws Failure NOT_FOUND */
export async function removeEndpoint(on: Transactional, id: string, clientId: string): Promise<void> {
  await on.transaction(async within => {
    const values = [id, clientId]
    await within.query({ text: `delete from webhook_health where endpoint = ${own}`, values })
    const [row] = await within.query<{ key: number }>({
      text: `delete from webhook_endpoint where key = ${own} returning key`,
      values,
    })
    const { key } = row ?? missing()
    await within.query({ text: 'delete from webhook_delivery where endpoint = $1', values: [key] })
    await within.query({ text: 'delete from webhook_replay where endpoint = $1', values: [key] })
  })
}

/** Most secrets that deliveries are signed with at a time. */
const mostSecrets = 5

/**
 * Gives an endpoint a new secret. The newest previous one keeps signing beside it for the overlap, and older ones for as long as was
 * promised, since the reply of a rotation can be lost. Without an overlap all previous ones end.
 * @param overlap seconds
 * @throws Failure NOT_FOUND
 */
export async function rotateEndpoint(
  on: Queryable,
  key: Buffer,
  id: string,
  clientId: string,
  { overlap, now }: { readonly overlap: number; readonly now: number },
): Promise<{ endpoint: Endpoint; secret: string; until: Date }> {
  const [row] = await on.query<{ secrets: Buffer }>({
    text: `select secrets from webhook_endpoint p where p.id = $1 and p.client_id = $2 and ${isOfConnect} for update`,
    values: [id, clientId],
  })
  const [newest, ...older] = secretsOf(key, id, (row ?? missing()).secrets)
  const secret = newWebhookSecret()
  const until = now + overlap * 1000
  const lasting = older.filter(each => each.until !== undefined && each.until > now)
  const previous = overlap > 0 ? [{ secret: newest!.secret, until }, ...lasting] : []
  const secrets: Secret[] = [{ secret }, ...previous].slice(0, mostSecrets)
  await on.query({
    text: 'update webhook_endpoint set secrets = $2, updated_at = now(), revision = revision + 1 where id = $1',
    values: [id, sealFor(key, id, secrets)],
  })
  return { endpoint: await findEndpoint(on, id, clientId), secret, until: new Date(until) }
}

/** Pending deliveries are counted up to this. */
export const mostCounted = 1000

/** An endpoint as administrators see it, one of a FHIR Subscription too. */
export interface Listed extends Endpoint {
  readonly organizationId: string
  /** The search of a FHIR Subscription; undefined for events of Connect. */
  readonly criteria: string | undefined
  /** Deliveries that are still to be made, counted up to `mostCounted`. */
  readonly pending: number
}

/** Which endpoints are listed; what is absent does not limit them. */
export interface EndpointFilter {
  readonly id?: string
  readonly organizationId?: string
  /** True: none of a FHIR Subscription, whose criteria can name patients. */
  readonly isOfConnect?: boolean
  /** The key of the last one that is known. */
  readonly after?: number
  readonly limit?: number
}

/** Returns endpoints of all clients, in the order in which they were made. */
export async function listAll(on: Queryable, filter: EndpointFilter = {}): Promise<Listed[]> {
  const { id, organizationId, isOfConnect: isNarrow = false, after = 0, limit } = filter
  const rows = await on.query<
    EndpointRow & { organization_id: string; watches: number | null; criteria: string | null; pending: number }
  >({
    text: `select p.*, h.last_delivery_at, h.failures, c.organization_id,
        (select count(*) from (select from webhook_delivery d where d.endpoint = p.key limit ${mostCounted}) counted)::integer as pending
      from webhook_endpoint p join ${clients} c on c.id = p.client_id left join webhook_health h on h.endpoint = p.key
      where ($1::text is null or p.id = $1) and ($2::text is null or c.organization_id = $2)
        and (not $3::boolean or ${isOfConnect}) and p.key > $4
      order by p.key limit $5::integer`,
    values: [id ?? null, organizationId ?? null, isNarrow, after, limit ?? null],
  })
  return rows.map(row => ({
    ...toEndpoint(row),
    organizationId: row.organization_id,
    criteria: row.watches === null ? undefined : `${typeName(row.watches)}?${row.criteria ?? ''}`,
    pending: row.pending,
  }))
}

/** Sets whether the whole resource is sent along; for administrators. @throws Failure NOT_FOUND */
export async function setFull(on: Queryable, id: string, isFull: boolean): Promise<void> {
  const [row] = await on.query({
    text: `update webhook_endpoint p set is_full = $2, updated_at = now(), revision = revision + 1
      where p.id = $1 and ${isOfConnect} returning p.key`,
    values: [id, isFull],
  })
  if (!row) throw new Failure('NOT_FOUND', `There is no subscription ${id}.`)
}
