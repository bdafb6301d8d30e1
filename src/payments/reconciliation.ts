// The payments of a day and what they come to, in one statement; sums are PostgreSQL's numeric, so no cent is lost.

import { prepared } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'
import { mostRows, type PageRequest } from '../lib/paging.ts'
import { allStored } from '../mapping/all-stored.ts'
import type { Translator } from '../mapping/translator.ts'
import type { Context } from '../shapes/context.ts'
import { PaymentRecord } from '../shapes/payment.ts'
import { currentVersions } from '../store/relations.ts'
import { typeNumber } from '../store/type-number.ts'

/** Which payments are asked for. */
export interface Day {
  readonly organization: string
  readonly date: string
  readonly timeZone: string
  readonly currency: string
}

export interface Totals {
  readonly currency: string
  readonly count: number
  readonly gross: string
  readonly fees: string
  readonly net: string
  readonly matched: number
  readonly unmatched: number
  readonly disputed: number
}

export interface PaymentRow {
  readonly id: string
  readonly paid_at: Date
  readonly body: string
}

/** The totals of the day by currency, and the payments of a page in one of them, with one more if there is one. */
export async function paymentsOf(
  on: Queryable,
  { organization, date, timeZone, currency }: Day,
  { after, limit }: PageRequest,
): Promise<{ rows: readonly PaymentRow[]; totals: readonly Totals[] }> {
  const values = [organization, date, timeZone, currency, typeNumber('PaymentReconciliation'), limit + 1]
  const own = `organization = $1 and paid_at >= ($2::date)::timestamp at time zone $3
          and paid_at < ($2::date + 1)::timestamp at time zone $3`
  // The inner limit is for the planner, which knows no values: a page is a walk along the index.
  const text = `with total as (
        select coalesce(json_agg(t order by t.currency), '[]') as totals from (
          select currency, count(*)::integer as count, sum(amount)::text as gross, sum(fee)::text as fees,
            (sum(amount) - sum(fee))::text as net,
            (count(*) filter (where status = 'matched'))::integer as matched,
            (count(*) filter (where status = 'unmatched'))::integer as unmatched,
            (count(*) filter (where status = 'disputed'))::integer as disputed
          from payment where ${own} group by currency) t
      )
      select r.id, p.paid_at, r.body, total.totals from total left join (
        select * from (
          select id, paid_at from payment where ${own} and currency = $4
            ${after ? 'and (paid_at, id) > ($7::timestamptz, $8)' : ''}
          order by paid_at, id limit ${mostRows}
        ) longest limit $6
      ) p on true left join ${currentVersions} r on r.type = $5 and r.id = p.id
      order by p.paid_at, p.id`
  const rows = await on.query<PaymentRow & { totals: Totals[] }>(
    prepared(text, { values: after ? [...values, ...after] : values }, true),
  )
  return { rows: rows.filter(row => row.id !== null), totals: rows[0]!.totals }
}

/** Returns the records of the rows, undefined for one that the map cannot translate. */
export async function paymentsIn(translator: Translator, context: Context, rows: readonly PaymentRow[]) {
  const bodies = rows.map(row => row.body)
  const all = await allStored(translator, { map: 'payment-from-fhir', shape: PaymentRecord }, bodies, context)
  return new Map(rows.map((row, index) => [row, all[index]!.record]))
}

/** What a day without payments comes to. */
export const nothing: Omit<Totals, 'currency'> = {
  ...{ count: 0, gross: '0', fees: '0', net: '0' },
  ...{ matched: 0, unmatched: 0, disputed: 0 },
}
