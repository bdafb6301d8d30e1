// Integration clients and their secrets: administration, and authentication of requests.
import type { JSONWebKeySet } from 'jose'
import { firstSpelling, unknownScopes } from '../access/scopes.ts'
import { textArray } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import type { Queryable, Transactional } from '../db/statement.ts'
import type { Environment } from '../lib/config.ts'
import { Failure } from '../lib/failure.ts'
import { randomText } from '../lib/ids.ts'
import { argon2id, fromPhc, newRecipe, toPhc } from './argon2.ts'
import { mustBePublicKeys } from './assertion.ts'
import { publish } from './news.ts'
import { mustBeResourceId } from './resource-id.ts'
import type { StoredSecret } from './secrets.ts'

export interface Client {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly scopes: readonly string[]
  /** True for the record-keeping system itself: its reads are not filtered by consent. */
  readonly consentExempt: boolean
  /** Public keys for private_key_jwt. */
  readonly jwks?: JSONWebKeySet
  /** Where it publishes them instead. */
  readonly jwksUrl?: string
  readonly createdAt: Date
  readonly revokedAt?: Date
}

/** A secret as an administrator sees it. */
export interface SecretInfo {
  readonly id: number
  readonly label?: string
  readonly createdAt: Date
  readonly expiresAt?: Date
  readonly lastUsedAt?: Date
}

export interface NewClient {
  readonly name: string
  readonly organizationId: string
  readonly scopes: readonly string[]
  readonly consentExempt?: boolean
  readonly jwks?: JSONWebKeySet
  /** Where it publishes its keys, as `mustBeCallable` accepted it; instead of jwks. */
  readonly jwksUrl?: string
  /** Absent: a random one. */
  readonly id?: string
  /** Absent: a random one; null: none, for a client that only signs assertions. */
  readonly secret?: string | null
}

/** A new secret of the form `sk_live_…` in production, `sk_test_…` elsewhere: 43 base62 symbols, 256 bits. */
export function newSecret(environment: Environment): string {
  return `sk_${environment === 'production' ? 'live' : 'test'}_${randomText(43)}`
}

export const newClientId = (): string => `client_${randomText(20)}`

/**
 * Creates a client. Its secret is returned once and cannot be read again.
 * @throws Failure VALIDATION_FAILED for unknown scopes, keys that are not public or an organization that is no id, CONFLICT if the id is taken.
 */
export async function createClient(
  database: Transactional,
  environment: Environment,
  input: NewClient,
): Promise<{ client: Client; secret: string | undefined }> {
  const { id = newClientId(), name, organizationId, consentExempt = false, jwks, jwksUrl } = input
  // Empty: it works for none.
  if (organizationId !== '') mustBeResourceId(organizationId, 'organization')
  if (jwks !== undefined) mustBePublicKeys(jwks)
  // Where a client appears by its id, a patient or a user appears as patient/… or user/….
  if (id.includes('/')) throw new Failure('VALIDATION_FAILED', 'A client id must not contain a slash.')
  const secret = input.secret === null ? undefined : (input.secret ?? newSecret(environment))
  const hash = secret && (await hashOf(secret))
  const client = await database.transaction(async on => {
    const [row] = await on.query<ClientRow>({
      text: `insert into client (id, organization_id, name, scopes, consent_exempt, jwks, jwks_url)
        values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning *`,
      values: [
        ...[id, organizationId, name, knownScopes(input.scopes), consentExempt],
        ...[jwks ? JSON.stringify(jwks) : null, jwksUrl ?? null],
      ],
    })
    if (!row) throw new Failure('CONFLICT', `A client with the id ${id} already exists.`)
    if (hash) await insertSecret(on, id, hash, 'first')
    return toClient(row)
  })
  return { client, secret }
}

/** What a client signs its assertions with: keys, where it publishes them, or neither. */
export type ClientKeys = Pick<Client, 'jwks' | 'jwksUrl'>

/**
 * Replaces a client's keys for private_key_jwt; they apply from its next assertion on.
 * @throws Failure NOT_FOUND if there is no such client, or it is revoked; VALIDATION_FAILED for keys that are not
 * public.
 */
export async function setKeys(database: Queryable, id: string, { jwks, jwksUrl }: ClientKeys): Promise<Client> {
  if (jwks !== undefined) mustBePublicKeys(jwks)
  const [row] = await database.query<ClientRow>({
    text: 'update client set jwks = $2, jwks_url = $3 where id = $1 and revoked_at is null returning *',
    values: [id, jwks ? JSON.stringify(jwks) : null, jwksUrl ?? null],
  })
  if (!row) throw new Failure('NOT_FOUND', `There is no active client ${id}.`)
  return toClient(row)
}

/** Returns scopes by their first spelling, each once. @throws Failure VALIDATION_FAILED naming every unknown one. */
export function knownScopes(names: readonly string[]): string[] {
  const unknown = unknownScopes(names)
  if (unknown) throw new Failure('VALIDATION_FAILED', unknown)
  return [...new Set(names.map(firstSpelling))]
}

/**
 * Adds a second secret beside the first.
 * @throws Failure NOT_FOUND, CONFLICT if two are live already.
 */
export function addSecret(
  database: Database,
  environment: Environment,
  clientId: string,
  label?: string,
): Promise<string> {
  return withNewSecret(database, environment, clientId, label, async (_on, live) => {
    if (live.length >= 2)
      throw new Failure(
        'CONFLICT',
        'The client already has two active secrets: rotate the secret, which ends the older one.',
      )
  })
}

/**
 * Gives the client a new secret. The newest previous one stays valid for the overlap; any older one ends at once.
 * @param overlap seconds; default a day, 0 ends the old secret at once.
 * @throws Failure NOT_FOUND if there is no such client, or it is revoked.
 */
export function rotateSecret(
  database: Database,
  environment: Environment,
  clientId: string,
  { overlap = 86_400, label }: { overlap?: number; label?: string } = {},
): Promise<string> {
  return withNewSecret(database, environment, clientId, label, async (on, live) => {
    for (const [age, secret] of live.entries()) await expireSecret(on, secret.id, age === 0 ? overlap : 0)
  })
}

async function withNewSecret(
  database: Database,
  environment: Environment,
  clientId: string,
  label: string | undefined,
  before: (on: Queryable, live: readonly StoredSecret[]) => Promise<void>,
): Promise<string> {
  const secret = newSecret(environment)
  await database.transaction(async on => {
    const [client] = await on.query<ClientRow>({
      text: 'select * from client where id = $1 and revoked_at is null for update',
      values: [clientId],
    })
    if (!client) throw new Failure('NOT_FOUND', `There is no active client ${clientId}.`)
    const live = await on.query<StoredSecret>({
      text: `select id, hash from client_secret where client_id = $1 and (expires_at is null or expires_at > now())
        order by id desc`,
      values: [clientId],
    })
    await before(on, live)
    await insertSecret(on, clientId, await hashOf(secret, live[0]?.hash), label)
  })
  return secret
}

async function expireSecret(on: Queryable, id: number, seconds: number): Promise<void> {
  await on.query({
    text: `update client_secret set expires_at = least(expires_at, now() + make_interval(secs => $2)) where id = $1`,
    values: [id, seconds],
  })
}

async function insertSecret(on: Queryable, clientId: string, hash: string, label: string | undefined): Promise<void> {
  await on.query({
    text: 'insert into client_secret (client_id, hash, label) values ($1, $2, $3)',
    values: [clientId, hash, label ?? null],
  })
}

// Secrets of one client share a salt: checking one against two hashes then costs one hash, as it does for an unknown client.
// Salts keep equal passwords from having equal hashes; these are 256 random bits each.
async function hashOf(secret: string, beside?: string): Promise<string> {
  const recipe = newRecipe(beside === undefined ? undefined : fromPhc(beside).recipe.salt)
  return toPhc(recipe, await argon2id(secret, recipe))
}

/**
 * Revokes a client for good: its secrets stop working now, its tokens within milliseconds in every process.
 * @throws Failure NOT_FOUND.
 */
export async function revokeClient(database: Database, id: string): Promise<void> {
  await database.transaction(async on => {
    const rows = await on.query({
      text: 'update client set revoked_at = coalesce(revoked_at, now()) where id = $1 returning id',
      values: [id],
    })
    if (rows.length === 0) throw new Failure('NOT_FOUND', `There is no client ${id}.`)
    await publish(on, { kind: 'client', id })
  })
}

/** A client as administrators see it. */
export interface ListedClient extends Client {
  /** Those that are live, oldest first. */
  readonly secrets: readonly SecretInfo[]
  /** When one of its secrets, past ones too, was last used; what signs assertions leaves no time. */
  readonly lastUsedAt?: Date
}

/** Which clients are listed; what is absent does not limit them. */
export interface ClientFilter {
  readonly id?: string
  readonly organizationId?: string
  /** The id of the last client that is known. */
  readonly after?: string
  readonly limit?: number
}

/** Returns clients with their live secrets, oldest first. */
export async function listClients(database: Queryable, filter: ClientFilter = {}): Promise<ListedClient[]> {
  const { id, organizationId, after, limit } = filter
  const clients = await database.query<ClientRow & { last_used_at: Date | null }>({
    text: `select *, (select max(last_used_at) from client_secret where client_id = c.id) as last_used_at
      from client c
      where ($1::text is null or id = $1) and ($2::text is null or organization_id = $2)
        and ($3::text is null or (created_at, id) > (select created_at, id from client where id = $3))
      order by created_at, id limit $4::integer`,
    values: [id ?? null, organizationId ?? null, after ?? null, limit ?? null],
  })
  const secrets = await database.query<SecretRow>({
    text: `select id, client_id, label, created_at, expires_at, last_used_at from client_secret
      where client_id = any($1::text[]) and (expires_at is null or expires_at > now()) order by id`,
    values: [textArray(clients.map(each => each.id))],
  })
  const byClient = Map.groupBy(secrets, secret => secret.client_id)
  return clients.map(row => ({
    ...toClient(row),
    secrets: (byClient.get(row.id) ?? []).map(toSecretInfo),
    lastUsedAt: row.last_used_at ?? undefined,
  }))
}

/** Returns the client with the hashes of its live secrets, or undefined; one statement by primary key. */
export async function findClient(
  database: Queryable,
  id: string,
): Promise<{ client: Client; secrets: StoredSecret[] } | undefined> {
  if (!/^[\x21-\x7e]{1,200}$/.test(id)) return undefined
  const [row] = await database.query<ClientRow & { secrets: StoredSecret[] }>({
    name: 'client',
    isFixed: true,
    text: `select *, (
        select coalesce(json_agg(json_build_object('id', id, 'hash', hash)), '[]') from client_secret
        where client_id = client.id and (expires_at is null or expires_at > now())
      ) as secrets
      from client where id = $1`,
    values: [id],
  })
  return row && { client: toClient(row), secrets: row.secrets }
}

/** Returns the ids and names of the clients of an organisation, or of all, oldest first; revoked ones included. */
export const clientsOf = (
  on: Queryable,
  organizationId: string | undefined,
): Promise<{ readonly id: string; readonly name: string }[]> =>
  on.query({
    name: 'clients-of',
    text: 'select id, name from client where $1::text is null or organization_id = $1 order by created_at, id',
    values: [organizationId ?? null],
  })

/** Returns those of the organisations that have clients, revoked ones included. */
export async function registeredOrganizations(on: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ id: string }>({
    name: 'registered-organizations',
    text: 'select distinct organization_id as id from client where organization_id = any($1::text[])',
    values: [textArray(ids)],
  })
  return new Set(rows.map(({ id }) => id))
}

interface ClientRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly scopes: string[]
  readonly consent_exempt: boolean
  readonly jwks: JSONWebKeySet | null
  readonly jwks_url: string | null
  readonly created_at: Date
  readonly revoked_at: Date | null
}

interface SecretRow {
  readonly id: number
  readonly client_id: string
  readonly label: string | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

function toClient(row: ClientRow): Client {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    scopes: row.scopes,
    consentExempt: row.consent_exempt,
    jwks: row.jwks ?? undefined,
    jwksUrl: row.jwks_url ?? undefined,
    createdAt: row.created_at,
    revokedAt: row.revoked_at ?? undefined,
  }
}

function toSecretInfo(row: SecretRow): SecretInfo {
  return {
    id: row.id,
    label: row.label ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  }
}
