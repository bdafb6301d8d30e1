// The table payment: it follows PaymentReconciliation resources, as the map payment-to-fhir writes them.

import { float8Array, textArray } from '../db/arrays.ts'
import { toDecimal } from '../fhirpath/decimal.ts'
import { isDay } from '../lib/day.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { extension, momentOf, ownExtension, shortText } from '../store/elements.ts'
import { following } from '../store/following-table.ts'
import type { Projected, Projection } from '../store/projection.ts'
import { idIn } from '../store/values.ts'

const ownDetail = 'https://health-interop.org/fhir/CodeSystem/payment-detail'
const statuses: Readonly<Record<string, string>> = { complete: 'matched', error: 'disputed' }

/** Where a day begins in UTC, as the map payment-from-fhir tells it, but not before it begins in the time zone. */
const startOfDay = `greatest(day::timestamp at time zone 'UTC', day::timestamp at time zone $9)`

/**
 * @param base address of this server's FHIR endpoint
 * @param timeZone in which a day begins, for payments of which only the day is known
 */
export function paymentTable(base: Base, timeZone: string): Projection {
  return following<Row>({
    type: 'PaymentReconciliation',
    table: 'payment',
    rowsOf: change => rowOf(change, base) ?? [],
    async insert(on, rows) {
      const texts = (pick: (row: Row) => string): Buffer => textArray(rows.map(pick))
      await on.run({
        name: 'payment-insert',
        text: `insert into payment (id, organization, paid_at, currency, amount, fee, status)
          select id, organization, case day when '' then to_timestamp(paid / 1000) else ${startOfDay} end,
            currency, amount::numeric, fee::numeric, status
          from unnest($1::text[], $2::text[], $3::float8[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
            as row(id, organization, paid, currency, amount, fee, status, day)`,
        values: [
          texts(row => row.id),
          texts(row => row.organization),
          float8Array(rows.map(row => row.paid ?? 0)),
          texts(row => row.currency),
          texts(row => row.amount),
          texts(row => row.fee),
          texts(row => row.status),
          texts(row => (row.paid === undefined ? row.day! : '')),
          timeZone,
        ],
      })
    },
  })
}

interface Row {
  readonly id: string
  readonly organization: string
  /** The moment, or else the day. */
  readonly paid: number | undefined
  readonly day: string | undefined
  readonly currency: string
  readonly amount: string
  readonly fee: string
  readonly status: string
}

/** Only active payments count: drafts are not final, and cancelled ones or those entered in error are withdrawn. */
function rowOf({ id, resource }: Projected, base: Base): Row | undefined {
  if (resource?.['status'] !== 'active') return undefined
  const organization = idIn(resource['requestor'], 'Organization', base)
  const paid = momentOf(extension(resource, ownExtension('paid-at'), 'valueDateTime'))
  const day = firstDayOf(resource['paymentDate'])
  const total = moneyIn(resource['paymentAmount'])
  if (organization === undefined || (paid ?? day) === undefined || total === undefined) return undefined
  const { amount, currency } = total
  const fee = objectsIn(resource['detail']).find(isFee)
  const charged = moneyIn(fee?.['amount'])
  const status = statuses[String(resource['outcome'])] ?? 'unmatched'
  return {
    ...{ id, organization, paid, day, currency, amount, status },
    // What was charged in another currency cannot be taken off.
    fee: charged?.currency === currency ? charged.amount : '0',
  }
}

/** The first day of a FHIR date. */
function firstDayOf(date: unknown): string | undefined {
  const day = typeof date === 'string' ? date + '0000-01-01'.slice(date.length) : ''
  return isDay(day) ? day : undefined
}

function moneyIn(value: unknown): { amount: string; currency: string } | undefined {
  if (!isObject(value)) return undefined
  const [amount, currency] = [toDecimal(value['value']), shortText(value['currency'], 10)]
  return amount && currency ? { amount: amount.toString(), currency } : undefined
}

function isFee({ type }: JsonObject): boolean {
  const codings = isObject(type) ? objectsIn(type['coding']) : []
  return codings.some(each => each['system'] === ownDetail && each['code'] === 'fee')
}
