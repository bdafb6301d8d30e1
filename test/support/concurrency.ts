// Holds requests in the middle of their work, by a lock that their last statement waits for.
import pg from 'pg'
import { until } from './process.ts'

export interface Barrier {
  /** How many connections wait at the moment. */
  waiting(): Promise<number>
  /** Cuts the connections that wait. */
  endWaiting(): Promise<void>
  lift(): Promise<void>
}

/** Until it is lifted nobody writes to the table, and everybody reads it unless `alsoReaders` says that nobody does. */
export async function barrier(
  connection: pg.ClientConfig,
  table: string,
  { alsoReaders = false } = {},
): Promise<Barrier> {
  const client = new pg.Client(connection)
  await client.connect()
  const waiters = `from pg_locks where not granted and relation = '${table}'::regclass`
  await client.query(`begin; lock table ${table} in ${alsoReaders ? 'access exclusive' : 'share row exclusive'} mode`)
  return {
    async waiting() {
      const { rows } = await client.query(`select count(*)::int as count ${waiters}`)
      return rows[0].count
    },
    async endWaiting() {
      await client.query(`select pg_terminate_backend(pid) ${waiters}`)
    },
    lift: () => client.end(),
  }
}

/** Waits until so many connections to the database of this one wait for locks of any kind. */
export async function areWaiting(database: pg.Client, count: number): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(`${count} connections wait for locks`, async () => (await database.query(waiting)).rowCount === count)
}
