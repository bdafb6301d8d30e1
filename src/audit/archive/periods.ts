// The periods of the trail and where their rows are, for administrators.
import type { Queryable } from '../../db/statement.ts'
import { chainsPerPeriod } from '../period.ts'
import { type Archive, archivesOf } from './archive.ts'

export interface PeriodState {
  readonly number: number
  readonly beganAt: Date
  /** Null: it is being written. */
  readonly endedAt: Date | null
  readonly chains: number
  readonly rows: number
  /** Null: its rows are in the database. */
  readonly archive: Archive | null
}

/** Returns all periods in order. */
export async function periodStates(on: Queryable): Promise<PeriodState[]> {
  const periods = await on.query<Omit<PeriodState, 'archive'>>({
    text: `select p.number, began_at as "beganAt", ended_at as "endedAt", count(h.chain)::integer as chains,
        coalesce(sum(h.sequence), 0)::bigint as rows
      from audit_period p left join audit_head h on h.chain / $1::integer = p.number
      group by p.number order by p.number`,
    values: [chainsPerPeriod],
  })
  const archives = new Map((await archivesOf(on)).map(each => [each.period, each]))
  return periods.map(each => ({ ...each, archive: archives.get(each.number) ?? null }))
}
