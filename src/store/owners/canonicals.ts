// Canonical resources: whose are found by a URL, which URLs are reserved, and that one owner has one active resource of each.
// https://hl7.org/fhir/R4/references.html#canonical
import { int2Array, int8Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { resourceTypes, searchParams } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import { plainCodePostings, storedKeys } from '../index/param-paths.ts'
import * as postings from '../index/postings.ts'
import type { Party, Principal } from '../principal.ts'
import type { Binder } from '../search/binder.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { objects, text } from '../values.ts'
import { boundTo, service } from './party.ts'

const canonical: ReadonlySet<string> = new Set(
  resourceTypes.filter(type => searchParams(type).has('url') && searchParams(type).has('version')),
)

/** True for types that are known by a url and a version. */
export const isCanonical = (type: string): boolean => canonical.has(type)

/**
 * Returns which rows of `search` a caller finds by a URL: those of its organisation, and those of exempt clients and the service.
 * `first` is an ascending sort key whose last row has precedence: for a bound caller its own, for others the shared ones.
 */
export function resolvable(
  row: string,
  party: Party,
  { bind }: Pick<Binder, 'bind'>,
): { readonly condition: string; readonly first: string } {
  const shared = `${row}.owner is null or ${row}.owner = '${service}'`
  if (!party.organizationId) return { condition: `(${shared})`, first: 'true' }
  const own = `${row}.owner = ${bind(party.organizationId)}`
  return {
    condition: `(${shared} or ${own})`,
    first: `(${own}) is ${boundTo(party) === undefined ? 'not ' : ''}true`,
  }
}

/** A change of a resource that has a url. */
interface Asked {
  readonly type: string
  readonly id: string
  readonly resource?: JsonObject
}

interface Ground {
  readonly on: Queryable
  readonly principal: Principal
  readonly base: Base
}

const urlOf = (resource: JsonObject): string | undefined => text(resource['url'])

/** Addresses of HL7, and those that the service gives its own definitions. */
const published = /^https?:\/\/(?:(?:www\.|terminology\.)?hl7\.org|health-interop\.org)(?:\/|$)/

/** True for a URL below an address of HL7 or of the service. */
const isReserved = (url: string, base: Base): boolean => published.test(url) || base.covers(url)

/** The URLs that a resource takes for itself, and the element in which they stand. */
function urlsIn({ type, resource }: Asked): { element: string; urls: string[] } {
  if (type === 'NamingSystem')
    return {
      element: 'NamingSystem.uniqueId',
      urls: objects(resource?.['uniqueId']).flatMap(each => text(each['value']) ?? []),
    }
  const url = isCanonical(type) && resource ? urlOf(resource) : undefined
  return { element: `${type}.url`, urls: url === undefined ? [] : [url] }
}

/** @throws Failure FORBIDDEN if a bound caller writes a resource under a URL of the service, of HL7, or of a loaded package. */
export async function mustBeUnreserved({ on, principal, base }: Ground, changes: readonly Asked[]): Promise<void> {
  if (boundTo(principal.party) === undefined) return
  for (const change of changes) {
    const { element, urls } = urlsIn(change)
    const url = urls.find(each => isReserved(each, base))
    if (url !== undefined) throw reserved(element, url, 'it is below a base URL of this service or of HL7')
  }
  const named = changes.filter(({ type, resource }) => isCanonical(type) && resource && urlOf(resource) !== undefined)
  if (named.length === 0) return
  const [taken] = await on.query<{ ord: number }>({
    name: 'loaded-canonicals',
    text: `with loaded as materialized (
        select s.type, s.tokens from search s where s.type = any($1::smallint[]) and s.tokens && $2::bigint[] and s.owner = '${service}'
      )
      select given.ord::integer as ord from unnest($1::smallint[], $2::bigint[]) with ordinality as given(type, url, ord)
      where exists (select 1 from loaded s where s.type = given.type and s.tokens @> array[given.url])
      order by given.ord limit 1`,
    values: [
      int2Array(named.map(({ type }) => typeNumber(type))),
      int8Array(named.map(({ type, resource }) => urlPosting(type, urlOf(resource!)!))),
    ],
  })
  if (!taken) return
  const { type, resource } = named[taken.ord - 1]!
  throw reserved(`${type}.url`, urlOf(resource!)!, 'the service or a loaded package has a resource with this URL')
}

function reserved(element: string, url: string, reason: string): Failure {
  const message = `${element} ${shown(url)} is reserved: ${reason}. Use your own URL, or have a consent-exempt client store the resource.`
  return new Failure('FORBIDDEN', message, { details: [{ field: element, code: 'forbidden', message }] })
}

const shown = (url: string): string => (url.length > 200 ? `${url.slice(0, 200)}…` : url)

const keyOf = (type: string, code: string): postings.ParamKey => storedKeys(type, code)[0]!
const urlPosting = (type: string, url: string): bigint => postings.uriPosting(keyOf(type, 'url'), url)

interface Active {
  readonly type: string
  readonly id: string
  readonly url: string
  readonly version: string | undefined
}

/** What is to be active under a URL; nothing of what the service itself writes, which may load the same package twice. */
function activeIn(principal: Principal, changes: readonly Asked[]): Active[] {
  if (principal.party.isService) return []
  return changes.flatMap(({ type, id, resource }) => {
    const url = isCanonical(type) && resource?.['status'] === 'active' ? urlOf(resource) : undefined
    return url === undefined ? [] : [{ type, id, url, version: text(resource!['version']) }]
  })
}

const canonicalOf = ({ url, version }: Active): string => (version === undefined ? url : `${url}|${version}`)

/** Keeps others from making a resource of the same url and version active until the transaction ends; in one order for all. */
export async function lockCanonicals({ on, principal }: Ground, changes: readonly Asked[]): Promise<void> {
  const keys = new Set(activeIn(principal, changes).map(each => hash64(`canonical ${each.type} ${canonicalOf(each)}`)))
  if (keys.size === 0) return
  await on.query({
    name: 'lock-canonicals',
    text: 'select pg_advisory_xact_lock(key) from unnest($1::bigint[]) as key',
    values: [int8Array([...keys].sort((a, b) => (a < b ? -1 : 1)))],
  })
}

/**
 * Called when everything is written.
 * @throws Failure VALIDATION_FAILED if an owner has two active resources of a type with the same url and version.
 */
export async function mustBeOnly({ on, principal }: Ground, changes: readonly Asked[]): Promise<void> {
  const active = activeIn(principal, changes)
  if (active.length === 0) return
  const [twice] = await on.query<{ type: number; id: string; other: string; url: number }>({
    name: 'same-canonicals',
    text: `with given as materialized (
        select g.*, d.shard, d.key
        from unnest($1::smallint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[])
          with ordinality as g(type, id, url, active, version, has_version, ord)
        join directory d on d.type = g.type and d.id = g.id
      ), own as materialized (
        select given.ord, coalesce(s.owner, '${service}') as owner from given join search s using (shard, key)
      ), alike as materialized (
        select t.type, t.key, o.id, coalesce(t.owner, '${service}') as owner, t.tokens from search t join resource o using (shard, key)
        where t.type = any($1::smallint[]) and t.tokens && $3::bigint[] and t.tokens && $4::bigint[]
      )
      select given.type, given.id, other.id as other, given.ord::integer as url
      from given join own using (ord) join alike other on other.type = given.type and other.tokens @> array[given.url, given.active]
        and other.key <> given.key and other.owner = own.owner and (given.version = any(other.tokens)) = (given.has_version = 1)
      order by given.ord limit 1`,
    values: [
      int2Array(active.map(({ type }) => typeNumber(type))),
      textArray(active.map(({ id }) => id)),
      int8Array(active.map(({ type, url }) => urlPosting(type, url))),
      int8Array(active.flatMap(({ type }) => plainCodePostings(type, 'status', 'active'))),
      // Where the resource has no version, a row with any posted version does not match.
      int8Array(active.flatMap(({ type, version }) => versionPostings(type, version))),
      int2Array(active.map(({ version }) => (version === undefined ? 0 : 1))),
    ],
  })
  if (!twice) return
  const [type, { url, version }] = [typeName(twice.type), active[twice.url - 1]!]
  const message = `${type}/${twice.other} is active with the url ${shown(url)} and ${version === undefined ? 'no version' : `the version ${version}`} already: change that one, use another version, or retire one of them.`
  throw new Failure('VALIDATION_FAILED', message, {
    issue: 'duplicate',
    details: [{ field: `${type}.url`, code: 'duplicate', message }],
  })
}

const versionPostings = (type: string, version: string | undefined): bigint[] =>
  version === undefined ? [keyOf(type, 'version').present] : plainCodePostings(type, 'version', version)
