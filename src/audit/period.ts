// The periods of the audit trail: each has chains and, as long as its rows are in the database, partitions of its own.
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'

/** The chains of a period have the numbers that follow so many times its own. */
export const chainsPerPeriod = 1_000_000

/** Rows after which a period ends before its month does. */
export const mostPeriodRows = 200_000_000

export const periodOf = (chain: number): number => Math.floor(chain / chainsPerPeriod)

/** The first and the last number that a chain of a period can have. */
export const chainsIn = (period: number): readonly [first: number, last: number] => [
  period * chainsPerPeriod + 1,
  (period + 1) * chainsPerPeriod - 1,
]

/** True if a chain may follow another: it has the next number, or the first one of the next period. */
export const mayFollow = (chain: number, before: number): boolean =>
  chain === before + 1 || chain === chainsIn(periodOf(before) + 1)[0]

/** When the month of a time ends, in UTC, in ms. */
export const endOfMonth = (time: Date): number => Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1)

/**
 * Returns the number of the chain to begin; begins a period with it if the last one is over. The clock of the database decides, since all
 * processes share it.
 * @param last number of the chain before; 0: there is none
 */
export async function nextChain(on: Queryable, last: number, periodRows: number): Promise<number> {
  const { number, isOver } = await currentPeriod(on, periodRows)
  const [first, final] = chainsIn(number)
  const next = Math.max(last + 1, first)
  if (!isOver && next <= final) return next
  await on.run({ text: 'update audit_period set ended_at = clock_timestamp() where number = $1', values: [number] })
  await on.run({
    text: 'insert into audit_period (number, began_at) values ($1, clock_timestamp())',
    values: [number + 1],
  })
  await on.run({ text: 'select audit_make_room($1)', values: [number + 1] })
  return chainsIn(number + 1)[0]
}

async function currentPeriod(on: Queryable, periodRows: number): Promise<{ number: number; isOver: boolean }> {
  const [period] = await on.query<{ number: number; is_over: boolean }>({
    text: `select number, date_trunc('month', began_at at time zone 'UTC') < date_trunc('month', clock_timestamp() at time zone 'UTC')
        or (select coalesce(sum(sequence), 0) from audit_head where chain >= number * $1::integer) >= $2 as is_over
      from audit_period order by number desc limit 1`,
    values: [chainsPerPeriod, periodRows],
  })
  return { number: period!.number, isOver: period!.is_over }
}

/** Makes the partitions of the period that comes next, so that its beginning waits for nothing. */
export const makeRoomAhead = (database: Database): Promise<void> =>
  inTurn(database, on => on.run({ text: 'select audit_make_room(max(number) + 1) from audit_period', values: [] }))

/** Any number that other locks do not have. */
const lockKey = 4_215_006

/** Chains and periods begin one after the other, whichever process begins them. */
export const inTurn = <T>(database: Database, work: (on: Queryable) => Promise<T>): Promise<T> =>
  database.transaction(async on => {
    await on.query({ text: 'select pg_advisory_xact_lock($1)', values: [lockKey] })
    return work(on)
  })
