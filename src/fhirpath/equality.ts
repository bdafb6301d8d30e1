// When values are equal, equivalent, or less than one another. http://hl7.org/fhirpath/N1/#equality

import { type Bucket, bucketOf } from './bucket.ts'
import { compareNumbers, round, toDecimal } from './decimal.ts'
import type { Items, Typed } from './node.ts'
import { compareQuantities, equalQuantities, equivalentQuantities, Quantity, toQuantity } from './quantity.ts'
import { type Steps, spend, spendText } from './steps.ts'
import { compareTemporals, parseTemporal, type Temporal } from './temporal.ts'
import { kindOf } from './values.ts'

/** JSON nested more deeply than this is not compared. */
const MAX_DEPTH = 200

/** `=` on collections: undefined when one is empty or precision leaves it open. */
export function equal(a: Items, b: Items, steps: Steps): boolean | undefined {
  if (a.length === 0 || b.length === 0) return undefined
  if (a.length !== b.length) return false
  let result: boolean | undefined = true
  for (let i = 0; i < a.length; i++) {
    const same = equalItems(a[i]!, b[i]!, steps)
    if (same === false) return false
    if (same === undefined) result = undefined
  }
  return result
}

/** `=` on two values. */
export function equalItems(a: Typed, b: Typed, steps: Steps): boolean | undefined {
  spend(steps)
  if (a.value === b.value && typeof a.value !== 'string')
    return a.value !== undefined || deepEqual(a.sibling, b.sibling, 0, steps)
  const kindA = kindOf(a)
  const kindB = kindOf(b)
  if (!kindA || !kindB) return kindA === kindB && deepEqual(a.value, b.value, 0, steps)
  if (isTemporal(kindA) || isTemporal(kindB)) return equalTemporals(a, kindA, b, kindB, steps)
  if (kindA === 'System.Quantity' || kindB === 'System.Quantity') return equalAsQuantities(a, b, steps)
  if (isNumber(kindA) && isNumber(kindB)) return compareNumbers(a.value, b.value) === 0
  return kindA === kindB && a.value === b.value
}

function isNumber(kind: string): boolean {
  return kind === 'System.Integer' || kind === 'System.Decimal'
}

function isTemporal(kind: string): boolean {
  return kind === 'System.Date' || kind === 'System.DateTime' || kind === 'System.Time'
}

/** The date, dateTime or time an item holds. */
export function temporalOf(item: Typed | undefined): Temporal | undefined {
  if (typeof item?.value !== 'string') return undefined
  switch (kindOf(item)) {
    case 'System.Date':
      return parseTemporal(item.value, 'date')
    case 'System.DateTime':
      return parseTemporal(item.value, 'dateTime')
    case 'System.Time':
      return parseTemporal(item.value, 'time')
    default:
      return undefined
  }
}

/** Steps of reading two dates, and of comparing two quantities, whose units may have to be converted. */
const READ_DATES = 8
export const READ_QUANTITIES = 16

function equalTemporals(a: Typed, kindA: string, b: Typed, kindB: string, steps: Steps): boolean | undefined {
  if (a.value === b.value && kindA === kindB) return true
  spend(steps, READ_DATES)
  const left = temporalOf(a)
  const right = temporalOf(b)
  if (!left || !right || (left.kind === 'time') !== (right.kind === 'time')) return false
  const order = compareTemporals(left, right)
  return order === undefined ? undefined : order === 0
}

function equalAsQuantities(a: Typed, b: Typed, steps: Steps): boolean | undefined {
  spend(steps, READ_QUANTITIES)
  const left = toQuantity(a.value)
  const right = toQuantity(b.value)
  if (left && right) return equalQuantities(left, right)
  return deepEqual(a.value, b.value, 0, steps)
}

function deepEqual(a: unknown, b: unknown, depth: number, steps: Steps): boolean {
  spend(steps)
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || depth > MAX_DEPTH) return equalScalars(a, b)
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((one, i) => deepEqual(one, b[i], depth + 1, steps))
  }
  const number = toDecimal(a)
  if (number) return compareNumbers(number, b) === 0
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && deepEqual(own(a, key), own(b, key), depth + 1, steps))
}

function equalScalars(a: unknown, b: unknown): boolean {
  return toDecimal(a) !== undefined && compareNumbers(a, b) === 0
}

function own(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key]
}

/** `~` on collections: their order does not matter. http://hl7.org/fhirpath/N1/#equivalent */
export function equivalent(a: Items, b: Items, steps: Steps): boolean {
  if (a.length !== b.length) return false
  return matchAll(a, b, (one, other) => equivalentItems(one, other, steps))
}

function matchAll<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): boolean {
  const left = [...b]
  return a.every(one => {
    const index = left.findIndex(other => same(one, other))
    if (index >= 0) left.splice(index, 1)
    return index >= 0
  })
}

function equivalentItems(a: Typed, b: Typed, steps: Steps): boolean {
  spend(steps)
  const kindA = kindOf(a)
  const kindB = kindOf(b)
  if (!kindA || !kindB) return kindA === kindB && deepEquivalent(a.value, b.value, 0, steps)
  if (kindA === 'System.Quantity' || kindB === 'System.Quantity') {
    spend(steps, READ_QUANTITIES)
    const left = toQuantity(a.value)
    const right = toQuantity(b.value)
    return left && right ? equivalentQuantities(left, right) : deepEquivalent(a.value, b.value, 0, steps)
  }
  if (isTemporal(kindA) || isTemporal(kindB)) return equalTemporals(a, kindA, b, kindB, steps) ?? false
  return deepEquivalent(a.value, b.value, 0, steps)
}

function deepEquivalent(a: unknown, b: unknown, depth: number, steps: Steps): boolean {
  spend(steps)
  if (typeof a === 'string' && typeof b === 'string') {
    spendText(steps, a.length + b.length)
    return normalized(a) === normalized(b)
  }
  const number = toDecimal(a)
  if (number) return equivalentNumbers(a, b)
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || depth > MAX_DEPTH) return a === b
  if (Array.isArray(a) && Array.isArray(b)) {
    return (
      a.length === b.length && matchAll<unknown>(a, b, (one, other) => deepEquivalent(one, other, depth + 1, steps))
    )
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && deepEquivalent(own(a, key), own(b, key), depth + 1, steps))
}

function normalized(text: string): string {
  return text.trim().toLowerCase().replace(/\s+/g, ' ')
}

function equivalentNumbers(a: unknown, b: unknown): boolean {
  const left = toDecimal(a)
  const right = toDecimal(b)
  if (!left || !right) return false
  const places = Math.min(left.scale, right.scale)
  return compareNumbers(round(left, places), round(right, places)) === 0
}

/** The order of two values: undefined when open; null when they are of kinds that have no order between them. */
export function compareItems(a: Typed, b: Typed, steps: Steps): number | undefined | null {
  spend(steps)
  const kindA = kindOf(a)
  const kindB = kindOf(b)
  if (!kindA || !kindB) return null
  if (kindA === 'System.String' && kindB === kindA)
    return a.value === b.value ? 0 : String(a.value) < String(b.value) ? -1 : 1
  if (isNumber(kindA) && isNumber(kindB)) return compareNumbers(a.value, b.value)
  if (isTemporal(kindA) && isTemporal(kindB) && (kindA === 'System.Time') === (kindB === 'System.Time')) {
    spend(steps, READ_DATES)
    const left = temporalOf(a)
    const right = temporalOf(b)
    return left && right ? compareTemporals(left, right) : undefined
  }
  spend(steps, READ_QUANTITIES)
  const left = isQuantity(a, kindA, kindB) ? toQuantity(a.value) : undefined
  const right = isQuantity(b, kindB, kindA) ? toQuantity(b.value) : undefined
  return left && right ? compareQuantities(left, right) : kindA === kindB ? undefined : null
}

function isQuantity(item: Typed, kind: string, other: string): boolean {
  return item.value instanceof Quantity || kind === 'System.Quantity' || (other === 'System.Quantity' && isNumber(kind))
}

/** The items without those equal to an earlier one. http://hl7.org/fhirpath/N1/#distinct-collection */
export function distinct(items: Items, steps: Steps): Items {
  if (items.length < 2) return items
  const seen = new Seen(steps)
  return items.filter(item => seen.add(item))
}

/** Remembers values by equality, quickly also when there are many. */
export class Seen {
  private readonly buckets = new Map<unknown, Typed[]>()
  private readonly steps: Steps

  /** @param steps pays for every comparison. */
  constructor(steps: Steps) {
    this.steps = steps
  }

  /** @param steps pays for the comparisons of the question. */
  has(item: Typed, steps: Steps): boolean {
    return this.isIn(item, bucketOf(item, steps), steps)
  }

  /** True if the value was not there yet. */
  add(item: Typed): boolean {
    const found = bucketOf(item, this.steps)
    if (this.isIn(item, found, this.steps)) return false
    const bucket = this.buckets.get(found.key)
    if (bucket) bucket.push(item)
    else this.buckets.set(found.key, [item])
    return true
  }

  private isIn(item: Typed, { key, beside }: Bucket, steps: Steps): boolean {
    const isEqual = (other: Typed): boolean => equalItems(item, other, steps) === true
    if (this.buckets.get(key)?.some(isEqual)) return true
    return beside?.some(each => this.buckets.get(each)?.some(isEqual)) ?? false
  }
}
