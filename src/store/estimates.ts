// How many resources of each type there are: counted while there are few, estimated from the planner's statistics when there are many.
import type { Queryable } from '../db/statement.ts'
import { typeName } from './type-number.ts'

/** Up to so many resources, by the planner's estimate, are counted. */
const mostCounted = 200_000

interface Row {
  readonly type: number
  readonly count: number
}

/** Returns the number of stored resources by type, the types with the most first. */
export async function resourcesByType(on: Queryable): Promise<{ readonly type: string; readonly count: number }[]> {
  const [size] = await on.query<{ rows: number }>({
    text: `select reltuples::double precision as rows from pg_class where oid = 'resource'::regclass`,
    values: [],
  })
  // -1: the table was never analyzed.
  const rows = size!.rows <= mostCounted ? await counted(on) : await estimated(on, size!.rows)
  return rows.map(({ type, count }) => ({ type: typeName(type), count }))
}

const counted = (on: Queryable): Promise<Row[]> =>
  on.query({
    text: 'select type, count(*)::double precision as count from resource group by type order by count desc, type',
    values: [],
  })

const estimated = (on: Queryable, rows: number): Promise<Row[]> =>
  on.query({
    text: `select v.type, round(v.share * $1)::double precision as count
      from pg_stats s, unnest(s.most_common_vals::text::smallint[], s.most_common_freqs) as v(type, share)
      where s.schemaname = current_schema() and s.tablename = 'resource' and s.attname = 'type' order by count desc, v.type`,
    values: [rows],
  })
