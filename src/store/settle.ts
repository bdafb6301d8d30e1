// Indexes resources that were stored before the data set had an address: until then, references below that address and its naming
// systems belonged to another server.
import type { Database } from '../db/database.ts'
import type { Queryable, Transaction } from '../db/statement.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Log } from '../lib/log.ts'
import { formsOf } from './base.ts'
import { noteSettled } from './data-set.ts'
import { isOutdated } from './epoch.ts'
import type { Indexer } from './index/entry.ts'
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

const batch = 200

/**
 * Indexes again the resources that name one of the addresses, in batches, and marks the addresses as settled. A resource that a
 * projection refuses (its Health ID is held by another) is indexed, and named in the log.
 * @returns how many resources name one of them
 */
export async function settle(parts: SettleParts, addresses: readonly string[]): Promise<number> {
  if (addresses.length === 0) return 0
  const patterns = addresses.flatMap(formsOf).map(each => `%${likeText(`"${each}/`)}%`)
  let count = 0
  for (let after: number | undefined = 0; after !== undefined; ) {
    const done = await settleBatch(parts, patterns, after)
    count += done.length
    after = done.length === batch ? done.at(-1) : undefined
  }
  await noteSettled(parts.database, addresses)
  return count
}

/** Indexes the next resources again, and returns their keys. */
async function settleBatch(parts: SettleParts, patterns: readonly string[], after: number): Promise<number[]> {
  const { database, indexing } = parts
  for (;;) {
    try {
      return await database.transaction(async on => {
        const bodies = await on.query<Body>({
          text: `select key, type, id, version, updated_at, body from resource
            where key > $1 and body like any($2::text[]) order by key limit ${batch} for no key update`,
          values: [after, patterns],
        })
        await indexAnew(on, parts, bodies)
        for (const each of bodies) await follow(on, parts, each)
        return bodies.map(each => each.key)
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
