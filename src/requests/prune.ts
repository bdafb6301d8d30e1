// Deletes requests that are older than they are kept, in batches, by one process at a time.
import type { Transactional } from '../db/statement.ts'
import { hash64 } from '../lib/hash.ts'
import { firstIdAt } from './time.ts'
import { stretchAt } from './value.ts'

const lock = hash64('request log: prune')
const atOnce = 5000

/** Deletes what came before a time. Another process that does so already is left to it. @returns the number of rows */
export async function pruneRequests(database: Transactional, before: Date): Promise<number> {
  for (let sum = 0; ; ) {
    const gone = await batch(database, before)
    sum += gone
    if (gone < atOnce) return sum
  }
}

/** Short transactions, so that vacuum follows. */
const batch = (database: Transactional, before: Date): Promise<number> =>
  database.transaction(async on => {
    const [held] = await on.query<{ free: boolean }>({
      text: 'select pg_try_advisory_xact_lock($1) as free',
      values: [lock],
    })
    if (!held!.free) return 0
    const [row] = await on.query<{ gone: number }>({
      text: `with old_gaps as (delete from request_gap where id < $1),
        old_values as (delete from request_value where stretch < $2::bigint),
        gone as (delete from request_log where id in (select id from request_log where id < $1 order by id limit ${atOnce}) returning 1)
        select count(*)::int as gone from gone`,
      values: [firstIdAt(before.getTime()), stretchAt(before.getTime())],
    })
    return row!.gone
  })
