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
import { isOutdated } from '../epoch.ts'
import { type Costly, createAccount } from '../index/account.ts'
import type { Addition, Extractor, IndexEntry } from '../index/draft.ts'
import { additionTo, type Indexer, valuesOf } from '../index/entry.ts'
import { shardArray } from '../index/shard.ts'
import { ownExtractor } from '../index/type-index.ts'
import { lockFree } from '../lock.ts'
import * as rows from '../rows.ts'
import { methods, typeName } from '../type-number.ts'
import { objects } from '../values.ts'
import { type Body, formerlyIndexed, nextBodies, unread } from './reindex-bodies.ts'
import { begun, claim, note, taskOf } from './reindex-work.ts'
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

/** Milliseconds of work after which others get their turn. */
const turn = 5

/** What is computed for a resource before anything is locked. */
interface Found {
  readonly body: Body
  /** What is added to its index entry, or a whole one that takes its place. */
  readonly addition?: Addition | undefined
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
    const task = taskOf(await begun(database, params, waiting))
    const read = await nextBodies(database, params, task)
    const own = params.own(typeName(task.type))
    const extractors = task.waiting.flatMap(({ key, reached }) =>
      own
        .filter(param => param.key.name === key)
        .map(param => ({ reached, extractor: ownExtractor(param, parts.base) })),
    )
    const stale = await formerlyIndexed(database, params, task, read.bodies)
    const { found, costly } = await compute(parts, { type: typeName(task.type), extractors, stale, ...read, signal })
    signal.throwIfAborted()
    for (const { body, problem } of found)
      if (problem) log.error({ resource: body.key, problem }, 'search parameters: could not index a resource')
    return database.transaction(async on => {
      await rows.mayWrite(on, epoch)
      const left = await write(on, found, epoch)
      await suspend(on, costly)
      // A resource that another writer has locked is read again later, with all that come after it.
      const isWhole = left === undefined
      const isLast = isWhole && read.isLast
      await note(on, { lease, task, isLast, place: isWhole ? read.places.at(-1) : read.places[left - 1] })
      return isLast && task.isOfContainers ? 'done' : left === 0 ? 'locked' : 'more'
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

interface Work {
  readonly type: string
  /** Of each parameter, with the place up to which it is done. */
  readonly extractors: readonly { readonly reached: string; readonly extractor: Extractor }[]
  /** Row numbers of the resources that are indexed again in any case. */
  readonly stale: ReadonlySet<number>
  readonly bodies: readonly Body[]
  readonly places: readonly string[]
  readonly signal: AbortSignal
}

/** Works out what the resources are found by, and lets others have their turns meanwhile. */
async function compute({ indexer }: IndexingParts, work: Work): Promise<Computed> {
  const found: Found[] = []
  const costly = new Map<string, Costly>()
  let began = performance.now()
  for (const [index, body] of work.bodies.entries()) {
    try {
      const { over, ...what } = entryOf(indexer.indexed, work, body, work.places[index]!)
      for (const each of over) costly.set(each.param.key.name, each)
      found.push({ body, ...what })
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

/**
 * Returns what the parameters find in a resource, if anything. The whole entry is rebuilt only where a part cannot be separated
 * from the rest: with what it contains, and where it has values of the parameters already.
 */
function entryOf(
  indexed: IndexingParts['indexer']['indexed'],
  { type, extractors: all, stale }: Work,
  { key, body }: Body,
  place: string,
): Pick<Found, 'entry' | 'addition'> & { readonly over: readonly Costly[] } {
  if (body === unread) return { over: [] }
  const resource = parseJson(body)
  if (!isObject(resource)) throw new TypeError('a stored resource is not an object')
  const account = createAccount(resource)
  const extractors = all.filter(({ reached }) => reached < place).map(each => each.extractor)
  if (!stale.has(key) && resource['contained'] === undefined)
    return { addition: additionTo(resource, extractors, account), over: account.costly() }
  const about = [resource, ...objects(resource['contained'])].filter(each => each['resourceType'] === type)
  const hasValue = (each: JsonObject): boolean =>
    extractors.map(extractor => valuesOf(extractor, each, account).length > 0).some(Boolean)
  if (!stale.has(key) && !about.map(hasValue).some(Boolean)) return { over: account.costly() }
  const { entry, costly } = indexed(resource, true)
  return { entry, over: [...account.costly(), ...costly] }
}

/**
 * Writes the entries of resources that are as they were read.
 * @returns the index of the first resource that another writer has locked or changed meanwhile. A change that leaves the values as
 * they are leaves the index entry alone, so it has to be read again.
 */
async function write(on: Queryable, found: readonly Found[], epoch: number): Promise<number | undefined> {
  const wanted = found.filter(({ entry, addition, problem }) => entry ?? addition ?? problem)
  if (wanted.length === 0) return undefined
  const numbers = wanted.map(({ body }) => body.key)
  const free = new Set(
    await lockFree(
      on,
      wanted.map(({ body: { type, id } }) => ({ type: typeName(type), id })),
    ),
  )
  const there = await on.query<{ key: number; version: number }>({
    name: 'reindex-there',
    text: 'select key, version from resource where shard = any($2::smallint[]) and key = any($1::bigint[])',
    values: [safeInt8Array(numbers), shardArray(numbers)],
  })
  const versions = new Map(there.filter(({ key }) => free.has(key)).map(({ key, version }) => [key, version]))
  const isSame = ({ body }: Found): boolean => versions.get(body.key) === body.version
  const same = wanted.filter(isSame)
  await rows.reindex(on, same.flatMap(rowOf), epoch)
  const added = same.flatMap(({ body: { key }, addition }) => (addition ? [{ key, addition }] : []))
  await rows.add(on, added, epoch)
  await leaveOut(
    on,
    same.filter(({ problem }) => problem !== undefined),
  )
  const done = new Set(same.map(({ body }) => body.key))
  const left = new Set(there.map(({ key }) => key).filter(key => !done.has(key)))
  const first = found.findIndex(({ body }) => left.has(body.key))
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
