// The FHIR subscriptions that receive changes: those whose criteria find the resource. The search runs in the name of
// the client that made the subscription, so scopes and consents decide as they do for any search.

import { type Caller, createCaller } from '../access/caller.ts'
import { int2Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import { clients } from '../identity/relations.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { withDeadline } from '../lib/deadline.ts'
import { Failure } from '../lib/failure.ts'
import type { Store } from '../store/store.ts'
import { typeName } from '../store/type-number.ts'

export interface FollowerParts {
  readonly database: Database
  readonly storeFor: (caller: Caller) => Store
  /** Called for each subscription that can no longer be evaluated. */
  readonly refused: (endpoint: { readonly id: string; readonly reason: string }) => void
}

/** A change of a resource. */
interface Change {
  /** Of the event. */
  readonly id: string
  /** Of the resource. */
  readonly type: number
  readonly resource_id: string
}

/** A subscription that receives a change. */
export interface Following {
  readonly endpoint: number
  readonly event: string
  /** False if the search took too long: it is repeated before anything is sent. */
  readonly isChecked: boolean
}

export interface Followers {
  /** Returns the subscriptions for changes; of several changes of one resource, for the last. */
  of(changes: readonly Change[]): Promise<Following[]>
  /** Returns whether a subscription's criteria find a resource. @throws Failure UNAVAILABLE if that cannot be determined now */
  finds(endpoint: number, id: string): Promise<boolean>
}

/** Concurrent searches, over all subscriptions: they must not take the database from requests. */
const concurrency = 4
/** Milliseconds for which the others wait for one subscription's search. */
const patience = 500
/** Milliseconds after which PostgreSQL ends such a search. */
const longest = 2000

export function createFollowers(parts: FollowerParts): Followers {
  const searches = createConcurrencyLimit({ name: 'searches of subscriptions', total: concurrency })
  return {
    async of(changes) {
      const watchers = await watchersOf(parts.database, changes)
      const all = await Promise.all(watchers.map(watcher => followings(parts, searches, watcher, changes)))
      return all.flat()
    },
    async finds(endpoint, id) {
      const [watcher] = await parts.database.query<Watcher>({
        name: 'webhook-watcher',
        isFixed: true,
        text: `${selected} where p.key = $1::bigint`,
        values: [endpoint],
      })
      if (!watcher) return false
      return (await searches.run(() => found(parts, watcher, [id]))).length > 0
    },
  }
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

const selected = `select p.key, p.id, p.watches, p.criteria, c.id as client_id, c.organization_id, c.scopes, c.consent_exempt
  from webhook_endpoint p join ${clients} c on c.id = p.client_id and c.is_active`

const watchersOf = (database: Database, changes: readonly Change[]): Promise<Watcher[]> =>
  database.query<Watcher>({
    name: 'webhook-watchers',
    text: `${selected}
      where p.watches = any($1::smallint[]) and p.is_active and (p.ends_at is null or p.ends_at > now()) order by p.key`,
    values: [int2Array([...new Set(changes.map(({ type }) => type))])],
  })

async function followings(
  parts: FollowerParts,
  searches: ConcurrencyLimit,
  watcher: Watcher,
  changes: readonly Change[],
): Promise<Following[]> {
  const last = new Map(changes.filter(({ type }) => type === watcher.watches).map(each => [each.resource_id, each.id]))
  const ids = [...last.keys()]
  const until = performance.now() + patience
  // A search that has waited too long for its turn gives no result: that differs from finding nothing.
  const search = searches.run(async () => (performance.now() < until ? found(parts, watcher, ids) : undefined))
  // An error that prevents the search now occurs again when it is repeated.
  const known = search.catch(() => undefined)
  const answer = await withDeadline(known, patience, () => undefined)
  const isChecked = answer !== undefined
  return (answer ?? ids).map(id => ({ endpoint: watcher.key, event: last.get(id)!, isChecked }))
}

/** Returns those of the resources that a subscription's criteria find. */
async function found(
  { database, storeFor, refused }: FollowerParts,
  watcher: Watcher,
  ids: readonly string[],
): Promise<string[]> {
  const { client_id: clientId, organization_id: organizationId, scopes, consent_exempt: consentExempt } = watcher
  const caller = createCaller({ clientId, organizationId, scopes, consentExempt })
  const criteria = [...new URLSearchParams(watcher.criteria)].filter(([name]) => !aboutPages.has(name))
  const query = [...criteria, ['_id', ids.join(',')], ['_count', String(ids.length)]] as [string, string][]
  try {
    return await database.transaction(async on => {
      await on.run({ text: `set local statement_timeout = ${longest}`, values: [] })
      const store = storeFor({ ...caller, within: on })
      const { matches } = await store.search(store.parse([typeName(watcher.watches)], query, true))
      return matches.map(({ id }) => id)
    })
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error
    // For example criteria with a search parameter that was removed.
    refused({ id: watcher.id, reason: `its criteria are not a valid search: ${error.message}` })
    return []
  }
}

/** Parameters that say how results are shown, not what is found. */
const aboutPages = new Set(['_count', '_sort', '_include', '_revinclude', '_summary', '_elements', '_total', '_format'])
