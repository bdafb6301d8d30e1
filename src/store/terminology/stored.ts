// Stored canonical resources by their URL, as one caller finds them: of its own organisation, and of exempt clients and the service.

import { int8Array } from '../../db/arrays.ts'
import { prepared } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { type JsonObject, parseJson } from '../../lib/json.ts'
import { plainCodePostings, storedKeys } from '../index/param-paths.ts'
import * as postings from '../index/postings.ts'
import { shardSql } from '../index/shard.ts'
import { resolvable } from '../owners/canonicals.ts'
import type { Party } from '../principal.ts'
import { createBinder } from '../search/binder.ts'
import { typeNumber } from '../type-number.ts'
import { type Seen, seen } from '../visibility.ts'
import { keep, recall } from './recent.ts'

/** A resource that has been read. */
export interface Loaded {
  readonly resource: JsonObject
  /** Characters of its JSON. */
  readonly size: number
}

/** Who looks. */
export interface Looking extends Seen {
  readonly party: Party
}

export const parsed = (body: string): Loaded => ({ resource: parseJson(body) as JsonObject, size: body.length })

interface FoundRow {
  readonly key: number
  readonly version: number
  readonly size: number
  /** Null if it is large. */
  readonly body: string | null
}

/** Bytes up to which a body is simply read again. */
const largest = 50_000

const tokens = (type: string, code: string, value: string): Buffer => int8Array(plainCodePostings(type, code, value))

const urls = (type: string, url: string): Buffer =>
  int8Array(storedKeys(type, 'url').map(key => postings.uriPosting(key, url)))

/**
 * The resource of a URL: of several an active one comes first, then one of the own organisation (owners/canonicals.ts), then the one
 * written last.
 */
export async function loadByUrl(
  on: Queryable,
  type: string,
  { url, version }: { readonly url: string; readonly version: string | undefined },
  { visibility, party }: Looking,
): Promise<Loaded | undefined> {
  const binder = createBinder()
  const { bind } = binder
  const [kind, named, active] = [typeNumber(type), urls(type, url), tokens(type, 'status', 'active')].map(bind)
  const { condition, first } = resolvable('s', party, binder)
  const conditions = [
    `s.type = ${kind} and s.tokens && ${named}::bigint[]`,
    ...(version === undefined ? [] : [`s.tokens && ${bind(tokens(type, 'version', version))}::bigint[]`]),
    ...[condition, ...seen('s', { bind, visibility })],
  ]
  const text = `select r.key, r.version, octet_length(r.body) as size,
        case when octet_length(r.body) <= ${largest} then r.body end as body from search s join resource r using (shard, key)
      where ${conditions.join(' and ')}
      order by s.tokens && ${active}::bigint[] desc, ${first} desc, r.updated_at desc, r.key desc limit 1`
  const [row] = await on.query<FoundRow>(prepared(text, binder))
  if (!row) return undefined
  return row.body === null ? large(on, type, row) : parsed(row.body)
}

// Value sets depend on others and on their reader, so that only code systems are kept.
async function large(on: Queryable, type: string, found: FoundRow): Promise<Loaded | undefined> {
  const known = type === 'CodeSystem' ? recall(found.key, found.version) : undefined
  if (known) return { resource: known, size: found.size }
  const [row] = await on.query<FoundRow>({
    name: 'term-body',
    text: `select version, body from resource where shard = ${shardSql('$1::bigint')} and key = $1`,
    values: [found.key],
  })
  if (!row?.body) return undefined
  const loaded = parsed(row.body)
  if (type === 'CodeSystem') keep(found.key, row.version, loaded.resource, loaded.size)
  return loaded
}

/**
 * The resources whose URL lies below a path, at most `most`: those that `loadByUrl` prefers come last.
 * @param path a URL without a slash at its end
 */
export async function loadBelow(
  on: Queryable,
  type: string,
  path: string,
  { visibility, party }: Looking,
  most: number,
): Promise<JsonObject[]> {
  const binder = createBinder()
  const { bind } = binder
  const below = int8Array(storedKeys(type, 'url').map(key => postings.belowPosting(key, path)))
  const [kind, within, active] = [typeNumber(type), below, tokens(type, 'status', 'active')].map(bind)
  const { condition, first } = resolvable('s', party, binder)
  const conditions = [condition, ...seen('s', { bind, visibility })].map(each => ` and ${each}`).join('')
  const text = `select r.body from search s join resource r using (shard, key)
      where s.type = ${kind} and s.tokens && ${within}::bigint[]${conditions}
      order by s.tokens && ${active}::bigint[], ${first}, r.updated_at, r.key limit ${bind(most)}`
  const rows = await on.query<{ body: string }>(prepared(text, binder))
  return rows.map(({ body }) => parsed(body).resource)
}

/** A resource of the URL that another organisation has stored, and that organisation. */
export async function elsewhere(
  on: Queryable,
  type: string,
  url: string,
  { visibility }: Looking,
): Promise<{ readonly id: string; readonly owner: string } | undefined> {
  const binder = createBinder()
  const [kind, named] = [typeNumber(type), urls(type, url)].map(binder.bind)
  const conditions = seen('s', { ...binder, visibility }).map(each => ` and ${each}`)
  const text = `select r.id, s.owner from search s join resource r using (shard, key)
      where s.type = ${kind} and s.tokens && ${named}::bigint[] and s.owner <> ''${conditions.join('')}
      order by r.updated_at desc, r.key desc limit 1`
  const [row] = await on.query<{ id: string; owner: string }>(prepared(text, binder))
  return row
}
