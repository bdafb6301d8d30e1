// FHIR subscriptions of R4: which ones are supported, and the endpoint that each one becomes, in the transaction that stores it
// (https://hl7.org/fhir/R4/subscription.html).

import { grants } from '../access/scopes.ts'
import type { Queryable } from '../db/statement.ts'
import { isResourceType } from '../definitions/r4.ts'
import { agents, clients } from '../identity/relations.ts'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import type { Reach } from '../outbound/address.ts'
import { authorHash } from '../store/author.ts'
import type { Projection, Writer } from '../store/projection.ts'
import { parseSearch } from '../store/search/parse.ts'
import { typesOf } from '../store/search/run.ts'
import type { SearchParams } from '../store/search-params/known.ts'
import { typeNumber } from '../store/type-number.ts'
import { readyToWatch, watch } from '../store/watched.ts'
import { type Channel, wrong } from './channel.ts'
import { aloneFor, mostOfClient, sealFor } from './endpoints.ts'
import { messageChannel } from './message-channel.ts'
import { restHook } from './rest-hook.ts'

export interface SubscriptionParts {
  /** As they are when a subscription is written. */
  readonly searchParams: () => SearchParams
  /** Makes this process record every change of a type from now on. */
  readonly alsoWatch: (type: string) => void
  readonly reach: Reach
  /** The types of resources that maps make HL7 v2 messages of. */
  readonly messages: () => readonly string[]
  readonly encryptionKey: Buffer
}

/** What a subscription requests. */
interface Rule {
  readonly type: string
  /** The criteria after the question mark. */
  readonly query: string
  /** The types that the search reads, those of chains included. */
  readonly types: readonly string[]
  readonly channel: Channel
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
      mustBeSearched(ruleOf(parts, resource), may)
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
  const element = isObject(channel) ? channel : {}
  const channelOf = Object.hasOwn(channels, String(element['type'])) ? channels[String(element['type'])] : undefined
  if (!channelOf) {
    const names = Object.keys(channels).join(' and ')
    throw wrong(
      'channel.type',
      'not-supported',
      `is ${JSON.stringify(element['type'])}, but only ${names} are supported`,
    )
  }
  const { type, query, types } = criterionOf(parts, String(criteria))
  return { type, query, types, channel: channelOf(parts, element, type), end: end as string | undefined }
}

const channels: Readonly<Record<string, (parts: SubscriptionParts, element: JsonObject, type: string) => Channel>> = {
  'rest-hook': ({ reach }, element) => restHook(element, reach),
  message: ({ messages }, element, type) => messageChannel(element, type, messages()),
}

const most = { criteria: 2000, parameters: 30 }

function criterionOf(parts: SubscriptionParts, criteria: string): Pick<Rule, 'type' | 'query' | 'types'> {
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
    return { type, query, types: typesOf(parseSearch([type], [...new URLSearchParams(query)], options)) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw wrong('criteria', 'value', `is not a valid search: ${error.message.replace(/\.$/, '')}`)
  }
}

/** @throws Failure INSUFFICIENT_SCOPE */
function mustBeSearched({ types }: Rule, may: Writer['may']): void {
  const type = types.find(each => !may(each, 's'))
  if (type === undefined) return
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
  mustBeSearched(rule, grants(client.scopes))
  if (client.others >= mostOfClient)
    throw new Failure('CONFLICT', `A client can have at most ${mostOfClient} Subscriptions: delete an unused one.`)
  if (author !== undefined && author !== client.id)
    throw new Failure('FORBIDDEN', 'Only the client that created a Subscription can change its criteria and channel.')
  if (rule.channel.agent !== undefined) await mustBeOwnAgent(on, rule.channel.agent, client.organization_id)
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
      rule.channel.url,
      typeNumber(rule.type),
      rule.query,
      rule.channel.mediaType ?? null,
      rule.end ?? null,
      sealFor(encryptionKey, idOf(id), rule.channel.headers),
    ],
  })
  await on.query({
    text: `update webhook_health set failures = 0, failing_since = null
      where endpoint = (select key from webhook_endpoint where id = $1)`,
    values: [idOf(id)],
  })
}

/** Another organisation's agent is like one that does not exist. @throws Failure VALIDATION_FAILED */
async function mustBeOwnAgent(on: Queryable, agent: string, organization: string): Promise<void> {
  const [found] = await on.query({
    text: `select from ${agents} a where a.id = $1 and a.organization_id = $2 and a.is_active`,
    values: [agent, organization],
  })
  if (!found) throw wrong('channel.endpoint', 'value', 'must name an active Bridge agent of your organisation')
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
