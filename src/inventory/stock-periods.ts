// What a stock comes to, day by day: batches expire, and then they count no more.

import { add, compareNumbers, Decimal, negate, trimZeros } from '../fhirpath/decimal.ts'
import { dayAfter } from '../lib/day.ts'

export type StockStatus = 'in_stock' | 'low' | 'out_of_stock'

/** A stock as the facility reported it. */
export interface Reported {
  readonly quantity: Decimal
  readonly reorderLevel: Decimal | undefined
  readonly status: StockStatus | undefined
  readonly nearestExpiry: string | undefined
  readonly batches: readonly Batch[]
}

interface Batch {
  /** The last day on which it may be used. */
  readonly lastDay: string | undefined
  readonly quantity: Decimal
}

/** Days on which the same holds, both ends included. */
export interface Period {
  readonly firstDay: string
  readonly lastDay: string
  readonly quantity: Decimal
  readonly status: StockStatus
  readonly nearestExpiry: string | undefined
}

const zero = new Decimal(0n, 0)
/** The last day that can be written; what expires then never does. */
const lastOfAll = '9999-12-31'

/**
 * The periods that cover all days, in order. What the facility reported stands, less the batches that have expired; where its
 * batches are more than it reported, not more than those left. Its word on the status stands while the quantity does.
 */
export function periodsOf(reported: Reported): Period[] {
  const total = sum(reported.batches)
  const days = expiries(reported)
  if (days.length === 0) {
    const period = { firstDay: '-infinity', lastDay: 'infinity', nearestExpiry: reported.nearestExpiry }
    return [{ ...period, ...stockOf(reported, total, zero) }]
  }
  const firsts = ['-infinity', ...days.filter(day => day < lastOfAll).map(dayAfter)]
  const expired = expiredBefore(reported.batches, firsts)
  return firsts.map((firstDay, index) => {
    const period = { firstDay, lastDay: days[index] ?? 'infinity', nearestExpiry: days[index] }
    return { ...period, ...stockOf(reported, total, expired[index]!) }
  })
}

/** The days on which something expires, in order; none if no batch says when it does. */
function expiries({ batches, nearestExpiry }: Reported): string[] {
  const ofBatches = batches.flatMap(({ lastDay, quantity }) => (lastDay && quantity.digits > 0n ? [lastDay] : []))
  if (ofBatches.length === 0) return []
  return [...new Set(nearestExpiry === undefined ? ofBatches : [...ofBatches, nearestExpiry])].sort()
}

/** What has expired before each of the days, which are in order: every batch is looked at once, however many days there are. */
function expiredBefore(batches: readonly Batch[], days: readonly string[]): Decimal[] {
  const dated = batches
    .flatMap(({ lastDay, quantity }) => (lastDay === undefined ? [] : [{ lastDay, quantity }]))
    .sort((a, b) => (a.lastDay < b.lastDay ? -1 : 1))
  let [expired, next] = [zero, 0]
  return days.map(day => {
    // The time before all days begins with a sign, which sorts before every digit.
    for (; next < dated.length && dated[next]!.lastDay < day; next++) expired = add(expired, dated[next]!.quantity)
    return expired
  })
}

/** @param total of all batches. @param expired of those that have expired. */
function stockOf(reported: Reported, total: Decimal, expired: Decimal): Pick<Period, 'quantity' | 'status'> {
  const left = add(total, negate(expired))
  const rest = larger(left, add(reported.quantity, negate(expired)))
  // Without batches there is nothing that could say otherwise.
  const quantity = trimZeros(
    reported.batches.length === 0 ? reported.quantity : smaller(reported.quantity, larger(rest, zero)),
  )
  return { quantity, status: statusOf(reported, quantity) }
}

function statusOf({ quantity: reported, reorderLevel, status }: Reported, quantity: Decimal): StockStatus {
  if (status !== undefined && compareNumbers(quantity, reported) === 0) return status
  if (quantity.digits <= 0n) return 'out_of_stock'
  return reorderLevel !== undefined && compareNumbers(quantity, reorderLevel) <= 0 ? 'low' : 'in_stock'
}

const sum = (batches: readonly Batch[]): Decimal => batches.reduce((total, { quantity }) => add(total, quantity), zero)
const larger = (a: Decimal, b: Decimal): Decimal => (compareNumbers(a, b) >= 0 ? a : b)
const smaller = (a: Decimal, b: Decimal): Decimal => (compareNumbers(a, b) <= 0 ? a : b)
