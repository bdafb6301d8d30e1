// Which FHIR subscriptions are told of changes: those whose criteria find the resource, asked of the store in the name of whoever made
// the subscription, so that scopes and consents decide here as they do for a search.
import { int2Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import { type Caller, createCaller } from '../policy/caller.ts'
import type { Store } from '../store/store.ts'
import { typeName } from '../store/type-number.ts'
import type { Waiting } from './dispatch.ts'

export interface FollowerParts {
  readonly database: Database
  readonly storeFor: (caller: Caller) => Store
  /** Told of each subscription that cannot be answered any more. */
  readonly refused: (endpoint: { readonly id: string; readonly reason: string }) => void
}

interface Watcher {
  readonly key: number
  readonly id: string
  readonly watches: number
  readonly criteria: string
  readonly client_id: string
  readonly organization_id: string
  readonly scopes: string[]
  readonly consent_exempt: boolean
}

/** Pairs of an endpoint and the event that it is told of; of several changes of one resource the last. */
export async function followersOf(parts: FollowerParts, changes: readonly Waiting[]): Promise<[number, string][]> {
  const watchers = await parts.database.query<Watcher>({
    name: 'webhook-watchers',
    text: `select p.key, p.id, p.watches, p.criteria, c.id as client_id, c.organization_id, c.scopes, c.consent_exempt
      from webhook_endpoint p join client c on c.id = p.client_id and c.revoked_at is null
      where p.watches = any($1::smallint[]) and p.is_active and (p.ends_at is null or p.ends_at > now()) order by p.key`,
    values: [int2Array([...new Set(changes.map(({ type }) => type))])],
  })
  const pairs: [number, string][] = []
  for (const watcher of watchers) {
    const last = new Map(
      changes.filter(({ type }) => type === watcher.watches).map(each => [each.resource_id, each.id]),
    )
    for (const id of await found(parts, watcher, [...last.keys()])) pairs.push([watcher.key, last.get(id)!])
  }
  return pairs
}

/** Those of the resources that a subscription's criteria find. */
async function found(
  { storeFor, refused }: FollowerParts,
  watcher: Watcher,
  ids: readonly string[],
): Promise<string[]> {
  const { client_id: clientId, organization_id: organizationId, scopes, consent_exempt: consentExempt } = watcher
  const store = storeFor(createCaller({ clientId, organizationId, scopes, consentExempt }))
  const criteria = [...new URLSearchParams(watcher.criteria)].filter(([name]) => !aboutPages.has(name))
  try {
    const query = [...criteria, ['_id', ids.join(',')], ['_count', String(ids.length)]] as [string, string][]
    const { matches } = await store.search(store.parse([typeName(watcher.watches)], query, true))
    return matches.map(({ id }) => id)
  } catch (error) {
    const isPassing = error instanceof Failure && error.code === 'UNAVAILABLE' && error.issue !== 'too-costly'
    if (!(error instanceof Failure) || isPassing) throw error
    // Such as criteria by a search parameter that is not there any more: others do not wait for that.
    refused({ id: watcher.id, reason: `its criteria cannot be searched by: ${error.message}` })
    return []
  }
}

/** Parameters that say how results are shown, not what is found. */
const aboutPages = new Set(['_count', '_sort', '_include', '_revinclude', '_summary', '_elements', '_total', '_format'])
