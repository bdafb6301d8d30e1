// Indexes what was stored before a search parameter was defined, a few hundred resources at a time, while the service runs.
// Every batch is a transaction that notes how far it came: any process can go on where another one stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import { textArray } from '../../db/arrays.ts'
import type { Database, Queryable } from '../../db/database.ts'
import { type JsonObject, parseJson } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import { type Indexer, ownExtractor } from '../index-entry.ts'
import * as rows from '../rows.ts'
import { methods, typeName } from '../type-number.ts'
import { catchUp, channel, isOutdated } from './registry.ts'

const batchSize = 200
/** How often a process looks for news and for work that another process may have left behind, in milliseconds. */
const lookEvery = 15_000

export interface IndexingParts {
  readonly database: Database
  readonly indexer: Indexer
  /** Address of this server's FHIR endpoint. */
  readonly base: string
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
  const work = async (): Promise<void> => {
    await catchUp(database, indexer)
    while (!isClosed && indexer.params.own().some(param => !param.isReady)) {
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
      while (!isClosed && indexer.params.own().some(param => !param.isReady) && performance.now() < until) {
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
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

/**
 * Indexes the next resources of one type by all parameters that wait for it; says whether there are more of that type.
 * Nothing, if nothing waits or another process is at it.
 */
function indexBatch(parts: IndexingParts): Promise<'nothing' | 'more' | 'done' | 'outdated'> {
  return parts.database
    .transaction(async on => {
      const waiting = await claim(on)
      const [first] = waiting
      if (!first) return 'nothing'
      const after = waiting.map(each => each.reached).sort()[0]!
      const bodies = await on.query<Body>({
        name: 'reindex-bodies',
        text: `select key, id, version, updated_at, body from resource
          where type = $1 and id > $2 order by id limit ${batchSize} for no key update`,
        values: [first.type, after],
      })
      await indexBodies(on, parts, waiting, bodies)
      const isDone = bodies.length < batchSize
      await note(on, waiting, isDone ? undefined : bodies.at(-1)!.id)
      return isDone ? 'done' : 'more'
    })
    .catch(error => {
      if (isOutdated(error)) return 'outdated'
      throw error
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
  const found = bodies.flatMap(({ key, id, version, updated_at, body }) => {
    const resource = parseJson(body) as JsonObject
    const isMeant = extractors.some(extractor => extractor.run(resource, { resource }).length > 0)
    const entry = isMeant ? indexer.entry(resource) : undefined
    return entry ? [{ key, type, id, version, method: methods.PUT, updatedAt: updated_at, body: '', entry }] : []
  })
  await rows.reindex(on, found, epoch)
}

/** Notes that resources up to the id are indexed, or all of them. */
async function note(on: Queryable, waiting: readonly Waiting[], reached: string | undefined): Promise<void> {
  await on.query({
    text: `update search_parameter set is_ready = $1, reached = greatest(reached, $2) where type = $3 and code = any($4::text[])`,
    values: [reached === undefined, reached ?? '', waiting[0]!.type, textArray(waiting.map(each => each.code))],
  })
  if (reached === undefined) await on.query({ text: `select pg_notify('${channel}', '')`, values: [] })
}
