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
  const days = expiries(reported)
  if (days.length === 0) return [{ ...on(reported, '-infinity', 'infinity'), nearestExpiry: reported.nearestExpiry }]
  const firsts = ['-infinity', ...days.filter(day => day < lastOfAll).map(dayAfter)]
  return firsts.map((first, index) => ({
    ...on(reported, first, days[index] ?? 'infinity'),
    nearestExpiry: days[index],
  }))
}

/** The days on which something expires, in order; none if no batch says when it does. */
function expiries({ batches, nearestExpiry }: Reported): string[] {
  const ofBatches = batches.flatMap(({ lastDay, quantity }) => (lastDay && quantity.digits > 0n ? [lastDay] : []))
  if (ofBatches.length === 0) return []
  return [...new Set(nearestExpiry === undefined ? ofBatches : [...ofBatches, nearestExpiry])].sort()
}

function on(reported: Reported, firstDay: string, lastDay: string) {
  const isOver = (batch: Batch): boolean =>
    firstDay !== '-infinity' && batch.lastDay !== undefined && batch.lastDay < firstDay
  const expired = sum(reported.batches.filter(isOver))
  const left = sum(reported.batches.filter(batch => !isOver(batch)))
  const rest = larger(left, add(reported.quantity, negate(expired)))
  // Without batches there is nothing that could say otherwise.
  const quantity = trimZeros(
    reported.batches.length === 0 ? reported.quantity : smaller(reported.quantity, larger(rest, zero)),
  )
  return { firstDay, lastDay, quantity, status: statusOf(reported, quantity) }
}

function statusOf({ quantity: reported, reorderLevel, status }: Reported, quantity: Decimal): StockStatus {
  if (status !== undefined && compareNumbers(quantity, reported) === 0) return status
  if (quantity.digits <= 0n) return 'out_of_stock'
  return reorderLevel !== undefined && compareNumbers(quantity, reorderLevel) <= 0 ? 'low' : 'in_stock'
}

const sum = (batches: readonly Batch[]): Decimal => batches.reduce((total, { quantity }) => add(total, quantity), zero)
const larger = (a: Decimal, b: Decimal): Decimal => (compareNumbers(a, b) >= 0 ? a : b)
const smaller = (a: Decimal, b: Decimal): Decimal => (compareNumbers(a, b) <= 0 ? a : b)
