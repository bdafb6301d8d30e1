// The promise of an export: what was changed up to its time is in it, what was changed later is in the next one, and
// nothing falls between (https://hl7.org/fhir/uv/bulkdata/export.html, transactionTime).
//
// A version's time is taken before it is written, and it is seen when its transaction commits: an export that began in
// between would miss it, and the next one would take it for old. So an export raises a fence to its time. A write that
// comes to the database later and carries an earlier time fails there and is run again with a later one. A write that
// passed before the fence was raised holds a lock that can be seen, and is waited for. No clock has to be right for that.
import { setTimeout as wait } from 'node:timers/promises'
import type { Queryable, Transactional } from '../../db/statement.ts'

// The lock that the function may_write takes (db/migrations/0003-writing.sql).
const holders = `select distinct virtualtransaction as holder from pg_locks
  where locktype = 'advisory' and classid = 1 and objid = 2 and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`

/**
 * Resolves once every change up to `time` is committed and no other can come.
 * @throws the signal's reason if it is aborted while writes are waited for.
 */
export async function settle(database: Transactional, time: Date, signal: AbortSignal): Promise<void> {
  await database.query({ text: 'update write_fence set at = $1 where at < $1', values: [time] })
  let open = await holding(database)
  for (let pause = 2; open.length > 0; pause = Math.min(2 * pause, 500)) {
    await wait(pause, undefined, { signal })
    const still = new Set(await holding(database))
    open = open.filter(each => still.has(each))
  }
}

const holding = async (on: Queryable): Promise<string[]> =>
  (await on.query<{ holder: string }>({ text: holders, values: [] })).map(row => row.holder)

/** A clock that is past the fence, for a write that was too late for it, even if this process's clock is slow. */
export async function nowBeyondFence(on: Queryable, now: () => Date): Promise<() => Date> {
  const [row] = await on.query<{ ms: number | null }>({
    text: `select case when isfinite(at) then (extract(epoch from at) * 1000)::bigint end as ms from write_fence`,
    values: [],
  })
  const least = (row?.ms ?? 0) + 1
  return () => new Date(Math.max(now().getTime(), least))
}
