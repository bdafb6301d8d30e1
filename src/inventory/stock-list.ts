// The stock of pharmacies, a page at a time: one statement over the table stock_level and the resources that it follows.

import { int4Array } from '../db/arrays.ts'
import { conditions } from '../db/conditions.ts'
import { prepared } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { dayIn } from '../lib/day.ts'
import { type JsonObject, jsonNumber } from '../lib/json.ts'
import { mostRows, type PageRequest } from '../lib/paging.ts'
import { allStored } from '../mapping/all-stored.ts'
import type { Translator } from '../mapping/translator.ts'
import type { Context } from '../shapes/context.ts'
import { StockItem } from '../shapes/stock-item.ts'
import { gramsOf } from '../store/index/grams.ts'
import { currentVersions } from '../store/relations.ts'
import { likeText } from '../store/search/sql-context.ts'
import { typeNumber } from '../store/type-number.ts'
import { fold } from '../store/values.ts'

/** What a caller may narrow the list by. */
export interface StockFilters {
  readonly facility_id?: string
  readonly medication_code?: string
  readonly code_system?: string
  readonly stock_status?: string
  readonly q?: string
  readonly expiring_before?: string
}

export interface StockRow {
  readonly facility: string
  readonly code_system: string
  readonly code: string
  readonly id: string
  readonly quantity: string
  readonly status: string
  readonly nearest_expiry: string | null
  readonly body: string
}

/** The rows of a page, in the order of facility, code system and code, and one more if there is one. */
export async function stockRows(
  on: Queryable,
  today: string,
  filters: StockFilters,
  wanted: PageRequest,
): Promise<StockRow[]> {
  const where = conditions()
  where.add(today, day => `s.first_day <= ${day}::date and s.last_day >= ${day}::date`)
  where.add(filters.facility_id, value => `s.facility = ${value}`)
  where.add(filters.medication_code, value => `s.code = ${value}`)
  where.add(filters.code_system, value => `s.code_system = ${value}`)
  where.add(filters.stock_status, value => `s.status = ${value}`)
  where.add(filters.expiring_before, value => `s.nearest_expiry < ${value}::date`)
  if (filters.q !== undefined) {
    const folded = fold(filters.q)
    const grams = gramsOf(folded)
    where.add(grams.length > 0 ? int4Array(grams) : undefined, value => `s.grams @> ${value}::integer[]`)
    where.add(`%${likeText(folded)}%`, value => `s.folded like ${value}`)
  }
  if (wanted.after)
    where.and(`(s.facility, s.code_system, s.code, s.id) > (${wanted.after.map(where.bind).join(', ')})`)
  const type = where.bind(typeNumber('Basic'))
  // The inner limit is for the planner: it lets a plan for all values expect a page, and so walk along an index.
  const sql = `select p.*, r.body from (
      select * from (
        select s.facility, s.code_system, s.code, s.id, s.quantity::text, s.status, s.nearest_expiry::text
        from stock_level s where ${where.text()}
        order by s.facility, s.code_system, s.code, s.id limit ${mostRows}
      ) longest limit ${where.bind(wanted.limit + 1)}
    ) p join ${currentVersions} r on r.type = ${type} and r.id = p.id
    order by p.facility, p.code_system, p.code, p.id`
  // How much letters and days let through depends on them; all else walks along an index in the order of the list.
  const isFixed = filters.q === undefined && filters.expiring_before === undefined
  return on.query<StockRow>(prepared(sql, where, isFixed))
}

/** Returns the rows in the form of the interface: what the facility reported, with what is left of it on the day. */
export async function stockItems(
  translator: Translator,
  context: Context,
  rows: readonly StockRow[],
): Promise<ReadonlyMap<StockRow, JsonObject>> {
  const bodies = rows.map(row => row.body)
  const all = await allStored(translator, { map: 'stock-from-fhir', shape: StockItem }, bodies, context)
  return new Map(
    rows.flatMap((row, index) => {
      const { record } = all[index]!
      return record ? [[row, { ...record, ...remaining(row) }] as const] : []
    }),
  )
}

const remaining = (row: StockRow) => ({
  quantity_on_hand: jsonNumber(row.quantity),
  stock_status: row.status,
  nearest_expiry: row.nearest_expiry,
})

/** The day it is at the service. */
export const todayOf = ({ timeZone, now }: { readonly timeZone: string; readonly now: () => Date }): string =>
  dayIn(timeZone, now())
