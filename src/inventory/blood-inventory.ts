// The units that blood banks can give out, by facility, group and component: counted at each request, since blood
// expires by the second.

import { conditions } from '../db/conditions.ts'
import { prepared } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import type { PageRequest } from '../lib/paging.ts'

/** What a caller may narrow the inventory by. */
export interface BloodFilters {
  readonly facility_id?: string
  readonly blood_group?: string
  readonly component?: string
}

interface Counts {
  readonly blood_group: string
  readonly component: string
  readonly units_available: number
  readonly units_reserved: number
}

export interface BloodRow extends Counts {
  readonly facility_id: string
  readonly nearest_expiry: Date | null
  readonly updated_at: Date
}

export interface BloodInventory {
  /** Those of the page, and one more if there is one. */
  readonly rows: readonly BloodRow[]
  /** Of all facilities together, by group and component. */
  readonly totals: readonly Counts[]
  /** How many units were counted. */
  readonly units: number
}

/** Reads page and totals with one statement, so that both are of the same moment. */
export async function bloodInventory(
  on: Queryable,
  now: Date,
  filters: BloodFilters,
  wanted: PageRequest,
): Promise<BloodInventory> {
  const where = conditions()
  where.add(now, value => `expires_at > ${value}::timestamptz`)
  where.add(filters.facility_id, value => `facility = ${value}`)
  where.add(filters.blood_group, value => `blood_group = ${value}`)
  where.add(filters.component, value => `component = ${value}`)
  const after = wanted.after?.map(where.bind)
  // Taken in the order of the index, the units need neither be sorted nor hashed: that halves what counting costs.
  const text = `with kind as (
      select facility, blood_group, component, is_reserved, count(*) as units, min(expires_at) as expiry,
        max(updated_at) as updated_at
      from (
        select * from blood_unit where ${where.text()}
        order by facility, blood_group, component, is_reserved offset 0
      ) ordered
      group by facility, blood_group, component, is_reserved
    ), counted as materialized (
      select facility as facility_id, blood_group, component,
        coalesce(sum(units) filter (where not is_reserved), 0)::integer as units_available,
        coalesce(sum(units) filter (where is_reserved), 0)::integer as units_reserved,
        min(expiry) filter (where not is_reserved) as nearest_expiry, max(updated_at) as updated_at
      from kind group by facility, blood_group, component
    ), total as (
      select coalesce(json_agg(t), '[]') as totals from (
        select blood_group, component, sum(units_available) as units_available, sum(units_reserved) as units_reserved
        from counted group by blood_group, component order by blood_group, component) t
    )
    select p.*, total.totals from total left join (
      select * from counted
      ${after ? `where (facility_id, blood_group, component) > (${after.join(', ')})` : ''}
      order by facility_id, blood_group, component limit ${where.bind(wanted.limit + 1)}
    ) p on true
    order by p.facility_id, p.blood_group, p.component`
  // How many of all units have expired decides how they are best counted.
  const isFixed = filters.facility_id !== undefined
  const rows = await on.query<BloodRow & { totals: Counts[] }>(prepared(text, where, isFixed))
  const totals = rows[0]!.totals
  const units = totals.reduce((sum, each) => sum + each.units_available + each.units_reserved, 0)
  return { rows: rows.filter(row => row.facility_id !== null), totals, units }
}
