// Which periods are to be archived, which process does it, and how their rows leave the database.
import type { Queryable } from '../../db/statement.ts'
import type { EndedPeriod } from './write.ts'

/** Returns the periods that ended so many days ago and are not archived, in order. */
export const duePeriods = (on: Queryable, days: number): Promise<EndedPeriod[]> =>
  on.query<EndedPeriod>({
    text: `select number, began_at as "beganAt", ended_at as "endedAt" from audit_period
      where ended_at <= clock_timestamp() - make_interval(days => $1) and number not in (select period from audit_archive) order by number`,
    values: [days],
  })

/** Seconds for which a process that archives a period is believed to live. */
const claimed = 300

/**
 * Keeps other processes from archiving a period, until the claim is given back, or its process has died.
 * @returns how to give it back; undefined: another process archives the period.
 */
export async function claimPeriod(on: Queryable, period: number): Promise<(() => Promise<void>) | undefined> {
  const rows = await on.query({
    text: `update audit_period set archiver_until = clock_timestamp() + make_interval(secs => $2)
      where number = $1 and (archiver_until is null or archiver_until < clock_timestamp()) returning number`,
    values: [period, claimed],
  })
  if (rows.length === 0) return undefined
  const set = (seconds: number | null): Promise<void> =>
    on.run({
      text: 'update audit_period set archiver_until = clock_timestamp() + make_interval(secs => $2) where number = $1',
      values: [period, seconds],
    })
  const timer = setInterval(() => void set(claimed).catch(() => {}), (claimed * 1000) / 5).unref()
  return () => {
    clearInterval(timer)
    return set(null)
  }
}

/** From now on no process adds a row to the period; waits for those that are being added. */
export const closePeriod = (on: Queryable, period: number): Promise<void> =>
  on.run({ text: 'select audit_close($1)', values: [period] })

/** Returns the archived periods whose rows are still in the database. */
export async function lingering(on: Queryable): Promise<number[]> {
  const rows = await on.query<{ period: number }>({
    text: `select period from audit_archive
      where to_regclass('audit_row_' || period) is not null or to_regclass('audit_source_' || period) is not null
        or to_regclass('audit_kind_' || period) is not null
      order by period`,
    values: [],
  })
  return rows.map(({ period }) => period)
}

/**
 * Removes the rows of an archived period from the database. Those who read and write the trail do not wait for it; it waits for those
 * who read it already. What was interrupted is finished the next time.
 */
export async function removeRows(on: Queryable, period: number): Promise<void> {
  for (const table of ['audit_row', 'audit_source', 'audit_kind']) {
    const part = `${table}_${period}`
    const state = await partState(on, part)
    if (state === 'attached') await ddl(on, `alter table ${table} detach partition ${part} concurrently`)
    if (state === 'leaving') await ddl(on, `alter table ${table} detach partition ${part} finalize`)
    if (state !== 'absent') await ddl(on, `drop table ${part}`)
  }
}

const ddl = (on: Queryable, text: string): Promise<void> => on.run({ text, values: [] })

type PartState = 'absent' | 'attached' | 'leaving' | 'detached'

async function partState(on: Queryable, part: string): Promise<PartState> {
  const [found] = await on.query<{ state: PartState }>({
    text: `select case when to_regclass($1) is null then 'absent' when inhdetachpending then 'leaving' when inhrelid is not null then 'attached'
        else 'detached' end as state
      from (select) one left join pg_inherits on inhrelid = to_regclass($1)`,
    values: [part],
  })
  return found!.state
}
