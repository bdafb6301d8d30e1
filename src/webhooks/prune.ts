// Deletes what is too old to be asked for, in batches: events, attempts, replays, and deliveries that did not succeed in that
// time.
import type { Database } from '../db/database.ts'

const atOnce = 5000

/** Deletes what is older than so many days. @returns the number of rows */
export async function prune(database: Database, days: number): Promise<number> {
  const age = `clock_timestamp() - make_interval(days => $1)`
  const [row] = await database.query<{ oldest: string }>({
    text: `select 'evt_' || lpad(to_hex((extract(epoch from ${age}) * 1000)::bigint), 12, '0') as oldest`,
    values: [days],
  })
  const { oldest } = row!
  return (
    (await inParts(database, 'webhook_delivery', `event < $1`, oldest)) +
    (await inParts(database, 'webhook_attempt', `started_at < clock_timestamp() - make_interval(days => $1)`, days)) +
    (await inParts(database, 'webhook_replay', `id < $1`, firstIdAt(oldest))) +
    (await inParts(database, 'event', `id < $1`, oldest))
  )
}

async function inParts(database: Database, table: string, condition: string, value: unknown): Promise<number> {
  for (let sum = 0; ; ) {
    const gone = await database.query({
      text: `delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${atOnce})) returning 1 as gone`,
      values: [value],
    })
    sum += gone.length
    if (gone.length < atOnce) return sum
  }
}

/** The lowest UUID of version 7 of the millisecond of an event's id. */
const firstIdAt = (event: string): string => `${event.slice(4, 12)}-${event.slice(12, 16)}-0000-0000-000000000000`
