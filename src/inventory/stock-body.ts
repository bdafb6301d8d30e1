// The body of a stock report: one item, or a list of them.

import { Failure, type FailureDetail } from '../lib/failure.ts'
import { isJsonNumber, isObject, numberOf } from '../lib/json.ts'
import { type Static, Type } from '../lib/schema.ts'
import { check } from '../shapes/check.ts'
import { StockItem } from '../shapes/stock-item.ts'
import { mostBatches } from './stock-table.ts'

const mostItems = 500
const longestCode = 200
/** How far the clock of a pharmacy may be ahead. */
const skew = 5 * 60_000

const StockItems = Type.Object(
  {
    items: Type.Array(StockItem, { minItems: 1, maxItems: mostItems, description: 'One item for each medicine.' }),
  },
  { additionalProperties: false },
)

export const StockReport = Type.Union([StockItem, StockItems], {
  $id: 'StockReport',
  description: `The stock of one medicine at one facility, or up to ${mostItems} of them as items.`,
})

export type StockItemSent = Static<typeof StockItem>

export interface Sent {
  /** As they were sent, digits of numbers included. */
  readonly items: readonly StockItemSent[]
  /** What comes before the name of a field of an item. */
  readonly place: (index: number) => string
}

/** @throws Failure VALIDATION_FAILED with the place of everything that is wrong. */
export function itemsIn(body: unknown, now: Date): Sent {
  const isList = isObject(body) && 'items' in body
  check(isList ? StockItems : StockItem, plain(body))
  const sent: Sent = isList
    ? { items: body['items'] as StockItemSent[], place: index => `items.${index}.` }
    : { items: [body as StockItemSent], place: () => '' }
  const first = new Map<string, number>()
  const details = sent.items.flatMap((item, index) => {
    const name = `${item.facility_id}|${item.code_system}|${item.medication_code}`
    const other = first.get(name)
    if (other === undefined) first.set(name, index)
    return problemsOf(item, now, other).map(each => ({ ...each, field: sent.place(index) + each.field }))
  })
  if (details.length > 0)
    throw new Failure('VALIDATION_FAILED', `${details[0]!.field} ${details[0]!.message}.`, { details })
  return sent
}

function* problems(item: StockItemSent, now: Date, other: number | undefined): Generator<FailureDetail> {
  const { medication_code, batches, updated_at } = item
  if (other !== undefined)
    yield { field: 'medication_code', code: 'duplicate', message: `duplicates items.${other} at the same facility` }
  if (medication_code.length > longestCode)
    yield { field: 'medication_code', code: 'maxLength', message: `must not have more than ${longestCode} characters` }
  if (batches && batches.length > mostBatches)
    yield { field: 'batches', code: 'maxItems', message: `must not have more than ${mostBatches} items` }
  const counted = Date.parse(updated_at)
  if (Number.isNaN(counted)) yield { field: 'updated_at', code: 'format', message: 'must be an existing date and time' }
  if (counted > now.getTime() + skew)
    yield { field: 'updated_at', code: 'future', message: 'must not be in the future' }
}

const problemsOf = (...about: Parameters<typeof problems>): FailureDetail[] => [...problems(...about)]

/** The same with ordinary numbers, as schemas know them. */
function plain(value: unknown): unknown {
  if (isJsonNumber(value)) return numberOf(value)
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}
