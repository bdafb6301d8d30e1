// One step of indexing older resources by new parameters: read without locks, worked out outside of any transaction, then written in
// a short one, if neither the resources nor the definitions have changed meanwhile.

import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { int4Array, safeInt8Array, textArray } from '../../db/arrays.ts'
import type { Database } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import type { Base } from '../base.ts'
import { channel, isOutdated } from '../epoch.ts'
import { type Costly, createAccount } from '../index/account.ts'
import type { Extractor, IndexEntry } from '../index/draft.ts'
import { type Indexer, ownExtractor, valuesOf } from '../index/entry.ts'
import { shardArray } from '../index/shard.ts'
import * as rows from '../rows.ts'
import { methods, typeName } from '../type-number.ts'
import { objects } from '../values.ts'
import { type Body, formerlyIndexed, nextBodies } from './reindex-bodies.ts'
import { suspend } from './suspension.ts'

/**
 * The outcome of a step: there was nothing to do, or another process is at it; there is more; the parameters of a type are done;
 * others have locked resources, so it could not go on; definitions have changed meanwhile.
 */
type Came = 'nothing' | 'more' | 'done' | 'locked' | 'outdated'

export interface IndexingParts {
  readonly database: Database
  readonly indexer: Indexer
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  readonly log: Log
}

interface Batches {
  next(): Promise<Came>
  /** Gives the work back, so that another process can take it up at once. */
  release(): Promise<void>
}

/** Seconds without a heartbeat after which another process takes over. */
const leaseSeconds = 10
/** Milliseconds of work after which others get their turn. */
const turn = 5

interface Waiting {
  readonly type: number
  readonly code: string
  readonly key: string
  readonly reached: string
}

/** What is computed for a resource before anything is locked. */
interface Found {
  readonly body: Body
  readonly entry?: IndexEntry
  /** Why it could not be indexed. */
  readonly problem?: string
}

interface Computed {
  readonly found: readonly Found[]
  readonly costly: readonly Costly[]
}

export function createBatches(parts: IndexingParts, signal: AbortSignal): Batches {
  const { database, indexer, log } = parts
  const lease = randomUUID()
  const step = async (): Promise<Came> => {
    const { epoch, params } = indexer
    const waiting = await claim(database, lease)
    const [first] = waiting
    if (!first) return 'nothing'
    const reached = waiting.map(each => each.reached).sort()[0]!
    const type = typeName(first.type)
    const read = await nextBodies(database, params, first.type, reached)
    const keys = new Set(waiting.map(each => each.key))
    const own = params.own(type).filter(param => keys.has(param.key.name))
    const extractors = own.map(param => ownExtractor(param, parts.base))
    const stale = await formerlyIndexed(database, params, type, extractors, read.bodies)
    const { found, costly } = await compute(parts, { type, extractors, stale, bodies: read.bodies, signal })
    signal.throwIfAborted()
    for (const { body, problem } of found)
      if (problem) log.error({ resource: body.key, problem }, 'search parameters: could not index a resource')
    return database.transaction(async on => {
      await rows.mayWrite(on, epoch)
      const locked = await write(on, found, epoch)
      await suspend(on, costly)
      // A resource that another writer has locked is read again later, with all that come after it.
      const isWhole = locked === undefined
      const place = isWhole ? read.end : locked === 0 ? reached : read.places[locked - 1]
      await note(on, lease, waiting, place)
      return isWhole ? (place === undefined ? 'done' : 'more') : locked === 0 ? 'locked' : 'more'
    })
  }
  return {
    next: () =>
      step().catch(error => {
        if (isOutdated(error)) return 'outdated'
        throw error
      }),
    release: () =>
      database.run({
        text: 'update search_parameter set lease = null, leased_until = null where lease = $1',
        values: [lease],
      }),
  }
}

/** The parameters of one type that wait, claimed for this process; none if another process is at them. */
function claim(on: Queryable, lease: string): Promise<Waiting[]> {
  return on.query<Waiting>({
    name: 'reindex-claim',
    text: `with waiting as (
        select p.type, p.code, p.lease, p.leased_until from search_parameter p
        where not p.is_ready and not exists (select from search_parameter_suspension s where s.key = p.key)
      ), first as (
        select type from waiting where lease is null or lease = $1 or leased_until < now() order by type limit 1
      )
      update search_parameter p set lease = $1, leased_until = now() + make_interval(secs => ${leaseSeconds})
      from waiting w where w.type = (select type from first) and p.type = w.type and p.code = w.code and not p.is_ready
        and (p.lease is null or p.lease = $1 or p.leased_until < now())
      returning p.type, p.code, p.key, p.reached`,
    values: [lease],
  })
}

interface Work {
  readonly type: string
  readonly extractors: readonly Extractor[]
  /** Row numbers of the resources that are indexed again in any case. */
  readonly stale: ReadonlySet<number>
  readonly bodies: readonly Body[]
  readonly signal: AbortSignal
}

/** Works out what the resources are found by, and lets others have their turns meanwhile. */
async function compute({ indexer }: IndexingParts, work: Work): Promise<Computed> {
  const found: Found[] = []
  const costly = new Map<string, Costly>()
  let began = performance.now()
  for (const body of work.bodies) {
    try {
      const { entry, over } = entryOf(indexer.indexed, work, body)
      for (const each of over) costly.set(each.param.key.name, each)
      found.push({ body, ...(entry && { entry }) })
    } catch (error) {
      found.push({ body, problem: `it could not be indexed (${error instanceof Error ? error.name : typeof error})` })
    }
    if (performance.now() - began < turn) continue
    await nextTurn()
    work.signal.throwIfAborted()
    began = performance.now()
  }
  return { found, costly: [...costly.values()] }
}

/** The index entry of a resource, if one of the parameters finds something in it. */
function entryOf(
  indexed: IndexingParts['indexer']['indexed'],
  { type, extractors, stale }: Work,
  { key, body }: Body,
): { entry?: IndexEntry; over: readonly Costly[] } {
  const resource = parseJson(body)
  if (!isObject(resource)) throw new TypeError('a stored resource is not an object')
  const account = createAccount(resource)
  const about = [resource, ...objects(resource['contained'])].filter(each => each['resourceType'] === type)
  const hasValue = (each: JsonObject): boolean =>
    extractors.map(extractor => valuesOf(extractor, each, account).length > 0).some(Boolean)
  if (!stale.has(key) && !about.map(hasValue).some(Boolean)) return { over: account.costly() }
  const { entry, costly } = indexed(resource, true)
  return { entry, over: [...account.costly(), ...costly] }
}

/**
 * Writes the entries of resources that are as they were read. What has changed since was indexed by the writer that changed it.
 * @returns the place of the first resource that another writer has locked.
 */
async function write(on: Queryable, found: readonly Found[], epoch: number): Promise<number | undefined> {
  const wanted = found.filter(({ entry, problem }) => entry ?? problem)
  if (wanted.length === 0) return undefined
  const numbers = wanted.map(({ body }) => body.key)
  const [keys, shards] = [safeInt8Array(numbers), shardArray(numbers)]
  const held = await on.query<{ key: number; version: number }>({
    name: 'reindex-hold',
    text: 'select key, version from resource where shard = any($2::smallint[]) and key = any($1::bigint[]) order by key for no key update skip locked',
    values: [keys, shards],
  })
  const versions = new Map(held.map(({ key, version }) => [key, version]))
  const isSame = ({ body }: Found): boolean => versions.get(body.key) === body.version
  const same = wanted.filter(isSame)
  await rows.reindex(on, same.flatMap(rowOf), epoch)
  await leaveOut(
    on,
    same.filter(({ problem }) => problem !== undefined),
  )
  if (held.length === wanted.length) return undefined
  const there = await on.query<{ key: number }>({
    name: 'reindex-there',
    text: 'select key from resource where shard = any($2::smallint[]) and key = any($1::bigint[])',
    values: [keys, shards],
  })
  const locked = new Set(there.map(({ key }) => key).filter(key => !versions.has(key)))
  const first = found.findIndex(({ body }) => locked.has(body.key))
  return first < 0 ? undefined : first
}

function rowOf({ body: { key, type, id, version, updated_at: updatedAt }, entry }: Found) {
  return entry ? [{ key, type, id, version, method: methods.PUT, updatedAt, body: '', entry }] : []
}

async function leaveOut(on: Queryable, found: readonly Found[]): Promise<void> {
  if (found.length === 0) return
  await on.run({
    text: `insert into search_parameter_left_out (resource, version, reason)
      select * from unnest($1::bigint[], $2::integer[], $3::text[])
      on conflict (resource) do update set version = excluded.version, reason = excluded.reason, noted_at = clock_timestamp()`,
    values: [
      safeInt8Array(found.map(({ body }) => body.key)),
      int4Array(found.map(({ body }) => body.version)),
      textArray(found.map(({ problem }) => problem!)),
    ],
  })
}

/** Notes that everything up to the place is indexed, or all there is. */
async function note(
  on: Queryable,
  lease: string,
  waiting: readonly Waiting[],
  reached: string | undefined,
): Promise<void> {
  await on.query({
    text: `update search_parameter set is_ready = $1, reached = greatest(reached, $2),
        leased_until = now() + make_interval(secs => ${leaseSeconds})
      where type = $3 and key = any($4::text[]) and lease = $5`,
    values: [reached === undefined, reached ?? '', waiting[0]!.type, textArray(waiting.map(each => each.key)), lease],
  })
  if (reached === undefined) await on.query({ text: `select pg_notify('${channel}', '')`, values: [] })
}
