// In which heap a value lies: equal values lie in the same one, or in heaps side by side, so that each is compared with few others.

import { hash } from 'node:crypto'
import { toDecimal } from './decimal.ts'
import type { Typed } from './node.ts'
import { measureOf, toQuantity } from './quantity.ts'
import { type Steps, spend, spendText } from './steps.ts'
import { instantKey, parseTemporal } from './temporal.ts'
import { kindOf } from './values.ts'

export interface Bucket {
  readonly key: unknown
  /** Buckets in which an equal value may lie, too. */
  readonly beside?: readonly unknown[]
}

/** The bucket of a value. */
export function bucketOf(item: Typed, steps: Steps): Bucket {
  spend(steps)
  const kind = kindOf(item)
  switch (kind) {
    case 'System.String':
    case 'System.Boolean':
      return { key: item.value }
    case 'System.Date':
      return temporalBucket(item.value, 'date')
    case 'System.DateTime':
      return temporalBucket(item.value, 'dateTime')
    case 'System.Time':
      return temporalBucket(item.value, 'time')
    case undefined:
      return { key: textOf(item.value, steps) }
    default:
      return amountBucket(item.value, steps)
  }
}

function temporalBucket(value: unknown, kind: 'date' | 'dateTime' | 'time'): Bucket {
  const found = typeof value === 'string' ? parseTemporal(value, kind) : undefined
  return { key: `@${found ? instantKey(found) : value}` }
}

/** Numbers and quantities are alike; units are reckoned in doubles, so that equal ones may differ in the last digits. */
function amountBucket(value: unknown, steps: Steps): Bucket {
  const quantity = toQuantity(value)
  const measure = quantity && measureOf(quantity)
  if (!measure) return { key: `#${textOf(value, steps)}` }
  const { amount, base } = measure
  if (amount === 0 || !Number.isFinite(amount)) return { key: `#${base} ${amount}` }
  const place = Math.round(Math.log(Math.abs(amount)) * 1e9)
  const named = (at: number): string => `#${base} ${Math.sign(amount)} ${at}`
  return { key: named(place), beside: [named(place - 1), named(place + 1)] }
}

/** Longer ones are hashed. */
const longest = 200

/** A text that equal JSON has in common. */
function textOf(value: unknown, steps: Steps): unknown {
  if (typeof value !== 'object' || value === null) return value
  const text = written(value)
  spendText(steps, text.length)
  return text.length <= longest ? text : hash('sha256', text)
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join()}]`
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? String(value) : JSON.stringify(value)
  const number = toDecimal(value)
  if (number) return String(Number(String(number)))
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, each]) => `${name}:${written(each)}`).join()}}`
}
