// FHIR subscriptions of R4 with a rest-hook: which ones are supported, and the endpoint that each one becomes, in the
// transaction that stores it (https://hl7.org/fhir/R4/subscription.html).

import { grants } from '../access/scopes.ts'
import type { Queryable } from '../db/statement.ts'
import { isResourceType } from '../definitions/r4.ts'
import { clients } from '../identity/relations.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import { mustBeCallable, type Reach } from '../outbound/address.ts'
import { authorHash } from '../store/author.ts'
import type { Projection, Writer } from '../store/projection.ts'
import { parseSearch } from '../store/search/parse.ts'
import type { SearchParams } from '../store/search-params/known.ts'
import { typeNumber } from '../store/type-number.ts'
import { readyToWatch, watch } from '../store/watched.ts'
import { aloneFor, mostOfClient, sealFor } from './endpoints.ts'

export interface SubscriptionParts {
  /** As they are when a subscription is written. */
  readonly searchParams: () => SearchParams
  /** Makes this process record every change of a type from now on. */
  readonly alsoWatch: (type: string) => void
  readonly reach: Reach
  readonly encryptionKey: Buffer
}

/** What a subscription requests. */
interface Rule {
  readonly type: string
  /** The criteria after the question mark. */
  readonly query: string
  readonly url: string
  readonly mediaType: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly end: string | undefined
}

/**
 * Creates the projection that keeps the endpoints of FHIR subscriptions. A supported subscription is active from the
 * moment it is stored.
 */
export function subscriptionProjection(parts: SubscriptionParts): Projection {
  return {
    types: new Set(['Subscription']),
    prepared(resource, { author, may }) {
      if (author === undefined || !isWanted(resource)) return resource
      mustBeSearched(ruleOf(parts, resource).type, may)
      if (resource['status'] === 'active') return resource
      const { error: _error, ...rest } = resource
      return { ...rest, status: 'active' }
    },
    ready: (on, resources) => readyToWatch(on, resources.filter(isWanted).map(typeIn).filter(isResourceType)),
    async apply(on, changes, { author }) {
      for (const { id, resource } of changes) {
        if (!resource) await remove(on, id)
        else if (isWanted(resource)) await take(parts, on, id, ruleOf(parts, resource), author)
        else await pause(on, id)
      }
    },
  }
}

/** Other changes of the same transaction are delivered, too. If it is rolled back, one search is wasted. */
async function take(
  parts: SubscriptionParts,
  on: Queryable,
  id: string,
  rule: Rule,
  author: string | undefined,
): Promise<void> {
  await enter(parts, on, id, rule, author)
  await watch(on, rule.type)
  parts.alsoWatch(rule.type)
}

/** Returns the type that criteria begin with. */
const typeIn = ({ criteria }: JsonObject): string => cutAt(String(criteria), '?')[0]

const isWanted = ({ status }: JsonObject): boolean => status === 'requested' || status === 'active'

/** @throws Failure VALIDATION_FAILED for what is not supported. */
function ruleOf(parts: SubscriptionParts, { criteria, channel, end }: JsonObject): Rule {
  const { type: kind, endpoint, payload, header } = isObject(channel) ? channel : {}
  if (kind !== 'rest-hook')
    throw wrong('channel.type', 'not-supported', `is ${JSON.stringify(kind)}, but only rest-hook is supported`)
  if (typeof endpoint !== 'string') throw wrong('channel.endpoint', 'required', 'is required')
  const [type, query] = criterionOf(parts, String(criteria))
  const mediaType = mediaTypeOf(payload)
  return {
    ...{ type, query, headers: headersOf(header), mediaType },
    url: callable(endpoint, mediaType !== undefined, parts.reach),
    end: end as string | undefined,
  }
}

/** Resources are put below it, so it cannot have a query then. */
function callable(endpoint: string, isBase: boolean, reach: Reach): string {
  const url = mustBeCallable(endpoint, reach, 'Subscription.channel.endpoint')
  if (isBase && new URL(url).search !== '')
    throw wrong('channel.endpoint', 'value', 'must have no query, because the path of the resource is appended to it')
  return url
}

const most = { criteria: 2000, parameters: 30 }

function criterionOf(parts: SubscriptionParts, criteria: string): [type: string, query: string] {
  const [type, query] = cutAt(criteria, '?')
  if (!isResourceType(type))
    throw wrong('criteria', 'value', 'must be a search on one resource type, such as Observation?code=718-7')
  if (criteria.length > most.criteria || query.split('&').length > most.parameters)
    throw wrong(
      'criteria',
      'too-long',
      `must have at most ${most.parameters} parameters and ${most.criteria} characters`,
    )
  const options = { params: parts.searchParams(), strict: true, defaultCount: 1, maxCount: 1 }
  try {
    parseSearch([type], [...new URLSearchParams(query)], options)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw wrong('criteria', 'value', `is not a valid search: ${error.message.replace(/\.$/, '')}`)
  }
  return [type, query]
}

function mediaTypeOf(payload: unknown): string | undefined {
  if (payload === undefined || payload === '') return undefined
  if (payload === 'application/fhir+json' || payload === 'application/json') return payload
  throw wrong(
    'channel.payload',
    'not-supported',
    'must be application/fhir+json, or absent for a notification without content',
  )
}

/** Headers that this side sets itself, or that would change what the request is. */
const reserved =
  /^(host|content-length|content-type|connection|transfer-encoding|expect|upgrade|te|trailer|keep-alive|proxy-.*)$/i
const mostHeaders = 20

function headersOf(lines: unknown): Record<string, string> {
  const all = Array.isArray(lines) ? lines.map(String) : []
  if (all.length > mostHeaders) throw wrong('channel.header', 'too-long', `has more than ${mostHeaders} lines`)
  return Object.fromEntries(
    all.map((line, index) => {
      const [name, value] = cutAt(line, ':').map(part => part.trim()) as [string, string]
      const isHeader = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) && /^[\t\x20-\x7e]{1,4000}$/.test(value)
      if (!isHeader || reserved.test(name))
        throw wrong(
          `channel.header[${index}]`,
          'value',
          'must be a header of your own, such as Authorization: Bearer abc',
        )
      return [name.toLowerCase(), value]
    }),
  )
}

function wrong(element: string, code: string, message: string): Failure {
  const field = `Subscription.${element}`
  return new Failure('VALIDATION_FAILED', `${field} ${message}.`, { details: [{ field, code, message }] })
}

/** @throws Failure INSUFFICIENT_SCOPE */
function mustBeSearched(type: string, may: Writer['may']): void {
  if (may(type, 's')) return
  throw new Failure(
    'INSUFFICIENT_SCOPE',
    `The scopes do not permit the search on ${type} in the criteria: system/${type}.rs does.`,
  )
}

const idOf = (id: string): string => `Subscription/${id}`

/**
 * Stores the endpoint; it belongs to the client that made it. @throws Failure INSUFFICIENT_SCOPE if that client may not
 * search the type
 */
async function enter(
  { encryptionKey }: SubscriptionParts,
  on: Queryable,
  id: string,
  rule: Rule,
  author: string | undefined,
): Promise<void> {
  if (author !== undefined) await aloneFor(on, author)
  const [client] = await on.query<{ id: string; organization_id: string; scopes: string[]; others: number }>({
    text: `select c.id, c.organization_id, c.scopes, (
        select count(*) from webhook_endpoint p where p.client_id = c.id and p.watches is not null and p.id <> $1)::integer as others
      from ${clients} c
      where c.id = coalesce((select client_id from webhook_endpoint where id = $1), $2)`,
    values: [idOf(id), author ?? null],
  })
  if (!client) return
  mustBeSearched(rule.type, grants(client.scopes))
  if (client.others >= mostOfClient)
    throw new Failure('CONFLICT', `A client can have at most ${mostOfClient} Subscriptions: delete an unused one.`)
  if (author !== undefined && author !== client.id)
    throw new Failure('FORBIDDEN', 'Only the client that created a Subscription can change its criteria and channel.')
  await on.query({
    text: `insert into webhook_endpoint (id, client_id, author, organization, url, events, watches, criteria, media_type, ends_at, secrets)
      values ($1, $2, $3, $4, $5, '{}', $6, $7, $8, $9, $10)
      on conflict (id) do update set url = excluded.url, watches = excluded.watches, criteria = excluded.criteria,
        media_type = excluded.media_type, ends_at = excluded.ends_at, secrets = excluded.secrets, updated_at = now(),
        revision = webhook_endpoint.revision + 1, is_active = true, disabled_because = null`,
    values: [
      idOf(id),
      client.id,
      authorHash(client.id),
      hash64(`Organization/${client.organization_id}`),
      rule.url,
      typeNumber(rule.type),
      rule.query,
      rule.mediaType ?? null,
      rule.end ?? null,
      sealFor(encryptionKey, idOf(id), rule.headers),
    ],
  })
  await on.query({
    text: `update webhook_health set failures = 0, failing_since = null
      where endpoint = (select key from webhook_endpoint where id = $1)`,
    values: [idOf(id)],
  })
}

async function pause(on: Queryable, id: string): Promise<void> {
  await on.query({
    text: `update webhook_endpoint set is_active = false, updated_at = now(), revision = revision + 1,
      disabled_because = coalesce(disabled_because, 'the Subscription is not active') where id = $1`,
    values: [idOf(id)],
  })
}

async function remove(on: Queryable, id: string): Promise<void> {
  await on.query({
    text: `with gone as (delete from webhook_endpoint where id = $1 returning key
      ), health as (delete from webhook_health where endpoint in (select key from gone))
      delete from webhook_delivery where endpoint in (select key from gone)`,
    values: [idOf(id)],
  })
}
