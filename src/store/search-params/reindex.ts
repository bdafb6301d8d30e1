// Indexes what was stored before a search parameter was defined, a few hundred resources at a time, while the service runs.
// Every batch is a transaction that notes how far it came: any process can go on where another one stopped.

import { setTimeout as sleep } from 'node:timers/promises'
import { int8Array, safeInt8Array, textArray } from '../../db/arrays.ts'
import type { Database } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { type JsonObject, parseJson } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import type { Base } from '../base.ts'
import { channel, isOutdated } from '../epoch.ts'
import { containedPosting } from '../index/contained.ts'
import type { Extractor } from '../index/draft.ts'
import { type Indexer, ownExtractor } from '../index/entry.ts'
import { type ParamKey, present } from '../index/postings.ts'
import * as rows from '../rows.ts'
import { methods, typeName } from '../type-number.ts'
import { objects } from '../values.ts'
import type { SearchParams } from './known.ts'
import { catchUp } from './registry.ts'

const batchSize = 200
/** How often a process looks for news and for work that another process may have left behind, in milliseconds. */
const lookEvery = 15_000

export interface IndexingParts {
  readonly database: Database
  readonly indexer: Indexer
  /** Address of this server's FHIR endpoint. */
  readonly base: Base
  readonly log: Log
}

export interface Indexing {
  /** Has the indexer learn of search parameters that were defined, in whichever process. */
  catchUp(): Promise<void>
  /** The same, and waits until what was stored before them is indexed, as long as a client may be kept waiting. */
  settle(): Promise<void>
  /** Does both from now on, whenever there is cause. When it resolves, those defined so far are known. */
  follow(): Promise<void>
  close(): Promise<void>
}

const patience = 1000

export function createIndexing(parts: IndexingParts): Indexing {
  const { database, indexer, log } = parts
  let isClosed = false
  let working: Promise<void> | undefined
  let isAgain = false
  let subscription: { close(): Promise<void> } | undefined
  let timer: NodeJS.Timeout | undefined
  const isWaiting = (): boolean => !isClosed && indexer.params.own().some(param => !param.isReady)
  const work = async (): Promise<void> => {
    await catchUp(database, indexer)
    while (isWaiting()) {
      const started = performance.now()
      const came = await indexBatch(parts)
      if (came === 'nothing') break
      // Others come first: half of the time is theirs.
      await sleep(performance.now() - started)
      if (came !== 'more') await catchUp(database, indexer)
    }
  }
  const wake = (): Promise<void> => {
    if (isClosed) return Promise.resolve()
    isAgain = working !== undefined
    working ??= work()
      .catch(error => log.warn({ err: error }, 'search parameters: could not go on indexing; it is tried again'))
      .finally(() => {
        working = undefined
        if (isAgain) void wake()
      })
    return working
  }
  return {
    catchUp: () => catchUp(database, indexer),
    async settle() {
      const until = performance.now() + patience
      await catchUp(database, indexer)
      while (isWaiting() && performance.now() < until) {
        // Another process may be at it: then this one comes back at once, with nothing to do.
        await Promise.race([wake(), sleep(until - performance.now(), undefined, { ref: false })])
        await sleep(10)
      }
    },
    async follow() {
      await catchUp(database, indexer)
      subscription = await database.listen(channel, () => void wake())
      timer = setInterval(() => void wake(), lookEvery).unref()
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      await subscription?.close()
      await working
    },
  }
}

interface Waiting {
  readonly type: number
  readonly code: string
  readonly reached: string
}

interface Body {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

/**
 * Indexes the next resources of one type, and then those that contain one of it, by all parameters that wait for it; says
 * whether there are more. Nothing, if nothing waits or another process is at it.
 */
function indexBatch(parts: IndexingParts): Promise<'nothing' | 'more' | 'done' | 'outdated'> {
  return parts.database
    .transaction(async on => {
      const waiting = await claim(on)
      const [first] = waiting
      if (!first) return 'nothing'
      const { bodies, place } = await nextBodies(
        on,
        parts.indexer,
        first.type,
        waiting.map(each => each.reached).sort()[0]!,
      )
      await indexBodies(on, parts, waiting, bodies)
      await note(on, waiting, place)
      return place === undefined ? 'done' : 'more'
    })
    .catch(error => {
      if (isOutdated(error)) return 'outdated'
      throw error
    })
}

/** Begins the places of what contains resources of the type, by row numbers: later in order than every id. */
const containers = '~'

/** The next resources from a place on, each once, and the place after them; none after the last. */
async function nextBodies(
  on: Queryable,
  indexer: Indexer,
  type: number,
  after: string,
): Promise<{ bodies: readonly Body[]; place: string | undefined }> {
  const own = after.startsWith(containers) ? [] : await ownBodies(on, type, after)
  if (own.length === batchSize) return { bodies: own, place: own.at(-1)!.id }
  const from = after.startsWith(containers) ? Number(after.slice(containers.length)) : 0
  const around = await containerBodies(on, indexer, type, from)
  const isMore = around.length === batchSize
  return {
    bodies: [...new Map([...own, ...around].map(each => [each.key, each])).values()],
    place: isMore ? containers + String(around.at(-1)!.key).padStart(16, '0') : undefined,
  }
}

const columns = 'r.key, r.type, r.id, r.version, r.updated_at, r.body'

function ownBodies(on: Queryable, type: number, after: string): Promise<Body[]> {
  return on.query<Body>({
    name: 'reindex-bodies',
    text: `select ${columns} from resource r
      where r.type = $1 and r.id > $2 order by r.id limit ${batchSize} for no key update`,
    values: [type, after],
  })
}

/** The reference parameters that may point at a contained resource of the type, which is found through its container by them. */
const pointers = (params: SearchParams, type: string): ParamKey[] =>
  resourceTypes.flatMap(container =>
    [...params.of(container).values()]
      .filter(param => param.type === 'reference' && (param.targets?.includes(type) ?? true))
      .flatMap(param => params.keys(container, param.code)),
  )

function containerBodies(on: Queryable, { params }: Indexer, type: number, after: number): Promise<Body[]> {
  const name = typeName(type)
  const postings = pointers(params, name).map(key => containedPosting(key, name))
  return on.query<Body>({
    name: 'reindex-containers',
    text: `select ${columns} from resource r
      where r.key in (select s.key from search s where s.tokens && $1::bigint[]) and r.key > $2
      order by r.key limit ${batchSize} for no key update of r`,
    values: [int8Array(postings), after],
  })
}

async function claim(on: Queryable): Promise<Waiting[]> {
  const [type] = await on.query<{ type: number }>({
    text: 'select type from search_parameter where not is_ready order by type, code limit 1 for update skip locked',
    values: [],
  })
  return type
    ? on.query<Waiting>({
        text: 'select type, code, reached from search_parameter where not is_ready and type = $1 order by code for update',
        values: [type.type],
      })
    : []
}

async function indexBodies(
  on: Queryable,
  { indexer, base }: IndexingParts,
  waiting: readonly Waiting[],
  bodies: readonly Body[],
): Promise<void> {
  const { epoch } = indexer
  const codes = new Set(waiting.map(each => each.code))
  const type = waiting[0]!.type
  const extractors = indexer.params
    .own(typeName(type))
    .filter(param => codes.has(param.code))
    .map(param => ownExtractor(param, base))
  const isMeant = (resource: JsonObject): boolean =>
    extractors.some(extractor => extractor.run(resource, { resource }).length > 0)
  const stale = await formerlyIndexed(on, indexer.params, typeName(type), extractors, bodies)
  const found = bodies.flatMap(({ key, type: of, id, version, updated_at, body }) => {
    const resource = parseJson(body) as JsonObject
    const about = [resource, ...objects(resource['contained'])].filter(each => each['resourceType'] === typeName(type))
    const entry = stale.has(key) || about.some(isMeant) ? indexer.entry(resource) : undefined
    return entry ? [{ key, type: of, id, version, method: methods.PUT, updatedAt: updated_at, body: '', entry }] : []
  })
  await rows.reindex(on, found, epoch)
}

/**
 * The row numbers of what was indexed by the very same definitions before they were deleted: since then a value may have
 * gone without a trace, as nobody looked at it.
 */
async function formerlyIndexed(
  on: Queryable,
  params: SearchParams,
  type: string,
  extractors: readonly Extractor[],
  bodies: readonly Body[],
): Promise<Set<number>> {
  const salts = [0n, ...pointers(params, type).map(key => key.salt)]
  const postings = extractors.flatMap(({ key }) => salts.map(salt => present(key) ^ salt))
  const found = await on.query<{ key: number }>({
    name: 'reindex-stale',
    text: 'select key from search where key = any($1::bigint[]) and tokens && $2::bigint[]',
    values: [safeInt8Array(bodies.map(body => body.key)), int8Array(postings)],
  })
  return new Set(found.map(row => row.key))
}

/** Notes that everything up to the place is indexed, or all there is. */
async function note(on: Queryable, waiting: readonly Waiting[], reached: string | undefined): Promise<void> {
  await on.query({
    text: `update search_parameter set is_ready = $1, reached = greatest(reached, $2) where type = $3 and code = any($4::text[])`,
    values: [reached === undefined, reached ?? '', waiting[0]!.type, textArray(waiting.map(each => each.code))],
  })
  if (reached === undefined) await on.query({ text: `select pg_notify('${channel}', '')`, values: [] })
}
