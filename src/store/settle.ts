// Indexes resources that were stored before the data set had an address: until then, references below that address and its naming
// systems belonged to another server.
import { safeInt8Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import type { Queryable, Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Log } from '../lib/log.ts'
import { formsOf } from './base.ts'
import { noteSettled } from './data-set.ts'
import { isOutdated } from './epoch.ts'
import type { Indexer } from './index/entry.ts'
import { shardArray, shards } from './index/shard.ts'
import { lockNames } from './lock.ts'
import type { Projection } from './projection.ts'
import { reindex } from './rows.ts'
import { likeText } from './search/sql-context.ts'
import type { Indexing } from './search-params/reindex.ts'
import type { Body } from './search-params/reindex-bodies.ts'
import { methods, typeName } from './type-number.ts'

export interface SettleParts {
  readonly database: Database
  readonly indexer: Indexer
  readonly indexing: Pick<Indexing, 'catchUp'>
  readonly projections: readonly Projection[]
  readonly log: Log
}

/** Most resources of one transaction. */
const batch = 200

/** Row numbers that one statement looks through: a data set of any size is read by statements that end soon. */
const span = 5000 * shards

/**
 * Indexes again the resources that name one of the addresses, in batches, and marks the addresses as settled. A resource that a
 * projection refuses (its Health ID is held by another) is indexed, and named in the log.
 * @returns how many resources name one of them
 */
export async function settle(parts: SettleParts, addresses: readonly string[]): Promise<number> {
  if (addresses.length === 0) return 0
  const patterns = addresses.flatMap(formsOf).map(each => `%${likeText(`"${each}/`)}%`)
  const [{ last } = { last: 0 }] = await parts.database.query<{ last: number }>({
    text: 'select coalesce(max(key), 0) as last from resource',
    values: [],
  })
  let count = 0
  for (let from = 0; from < last; from += span) {
    const keys = await naming(parts.database, patterns, from)
    for (let at = 0; at < keys.length; at += batch) await settleBatch(parts, keys.slice(at, at + batch))
    count += keys.length
  }
  await noteSettled(parts.database, addresses)
  return count
}

/** Returns the keys after `from` of resources that name one of the addresses. */
async function naming(on: Queryable, patterns: readonly string[], from: number): Promise<number[]> {
  const rows = await on.query<{ key: number }>({
    text: 'select key from resource where key > $1 and key <= $2 and body like any($3::text[]) order by key',
    values: [from, from + span, patterns],
  })
  return rows.map(({ key }) => key)
}

/** Indexes resources again, as they are now. */
async function settleBatch(parts: SettleParts, keys: readonly number[]): Promise<void> {
  const { database, indexing } = parts
  for (;;) {
    try {
      return await database.transaction(async on => {
        const values = [safeInt8Array(keys), shardArray(keys)]
        const where = 'where shard = any($2::smallint[]) and key = any($1::bigint[])'
        const named = await on.query<Pick<Body, 'type' | 'id'>>({
          text: `select type, id from resource ${where}`,
          values,
        })
        await lockNames(
          on,
          named.map(({ type, id }) => ({ type: typeName(type), id })),
        )
        const bodies = await on.query<Body>({
          text: `select key, type, id, version, updated_at, body from resource ${where} order by key`,
          values,
        })
        await indexAnew(on, parts, bodies)
        for (const each of bodies) await follow(on, parts, each)
      })
    } catch (error) {
      if (!isOutdated(error)) throw error
      await indexing.catchUp()
    }
  }
}

async function indexAnew(on: Queryable, { indexer }: SettleParts, bodies: readonly Body[]): Promise<void> {
  const rows = bodies.map(({ key, type, id, version, updated_at, body }) => {
    const entry = indexer.entry(parseJson(body) as JsonObject, true)
    return { key, type, id, version, method: methods.PUT, updatedAt: updated_at, body: '', entry }
  })
  await reindex(on, rows, indexer.epoch)
}

/**
 * Updates the projections of one resource in a transaction of its own, so that one refused resource does not hold up the others.
 */
async function follow(on: Transaction, { projections, log }: SettleParts, { type, id, body }: Body): Promise<void> {
  const change = { type: typeName(type), id, resource: parseJson(body) as JsonObject }
  try {
    await on.transaction(async part => {
      for (const { types, anew } of projections) if (types.has(change.type)) await anew?.(part, [change])
    })
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error
    log.warn(
      { resource: `${change.type}/${id}`, code: error.code },
      'data set: a resource that names a new address is not valid there; correct it',
    )
  }
}
