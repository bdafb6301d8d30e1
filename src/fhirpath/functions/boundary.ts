// lowBoundary(), highBoundary() and precision(). http://hl7.org/fhirpath/#lowboundaryprecision-integer-decimal--date--datetime--time

import { add, Decimal, toDecimal, toPlaces } from '../decimal.ts'
import { temporalOf } from '../equality.ts'
import { EMPTY, type Items, type Typed, typed } from '../node.ts'
import { Quantity, toQuantity } from '../quantity.ts'
import { formatTemporal, lastParts, type Temporal } from '../temporal.ts'
import { integerOf, kindOf } from '../values.ts'
import { type Functions, inputTypes, singletonFunction } from './spec.ts'

export const boundary: Functions = {
  lowBoundary: singletonFunction([0, 1], (item, [places]) => bound(item, places, 'low'), inputTypes),
  highBoundary: singletonFunction([0, 1], (item, [places]) => bound(item, places, 'high'), inputTypes),
  precision: singletonFunction(
    0,
    item => {
      const digits = precisionOf(item)
      return digits === undefined ? EMPTY : [typed(digits, 'System.Integer')]
    },
    () => ['System.Integer'],
  ),
}

type Side = 'low' | 'high'

/** Decimals carry at most this many places. */
const MAX_PLACES = 28
const DEFAULT_PLACES = 8

function bound(item: Typed, argument: Items | undefined, side: Side): Items {
  const places = argument && integerOf(argument[0])
  if (argument && places === undefined) return EMPTY
  const temporal = temporalOf(item)
  if (temporal) return boundTemporal(temporal, kindOf(item)!, places, side)
  if (kindOf(item) === 'System.Quantity') {
    const quantity = toQuantity(item.value)
    const value = quantity && boundDecimal(quantity.value, places ?? DEFAULT_PLACES, side)
    return value ? [typed(new Quantity(value, quantity.unit, quantity.calendar), 'System.Quantity')] : EMPTY
  }
  const number = kindOf(item) && toDecimal(item.value)
  const value = number && boundDecimal(number, places ?? DEFAULT_PLACES, side)
  return value ? [typed(value, 'System.Decimal')] : EMPTY
}

/** 1.587 stands for all from 1.5865 to 1.5875. */
function boundDecimal(value: Decimal, places: number, side: Side): Decimal | undefined {
  if (places < 0 || places > MAX_PLACES) return undefined
  const half = new Decimal(side === 'low' ? -5n : 5n, value.scale + 1)
  return toPlaces(add(value, half), places, side === 'low' ? 'floor' : 'ceiling')
}

/** Digits that a date or dateTime of 1 to 6 parts has: 2014 has 4, 2014-01-05T10:30:00.000 has 17. */
const DATE_DIGITS = [4, 6, 8, 10, 12, 17]
const TIME_DIGITS = [2, 4, 9]

function boundTemporal(temporal: Temporal, type: string, digits: number | undefined, side: Side): Items {
  const steps =
    temporal.kind === 'time' ? TIME_DIGITS : temporal.kind === 'date' ? DATE_DIGITS.slice(0, 3) : DATE_DIGITS
  const count = steps.indexOf(digits ?? steps.at(-1)!) + 1
  if (count === 0) return EMPTY
  const full = side === 'low' ? firstParts(temporal) : lastParts(temporal.parts, temporal.kind)
  const zoned = temporal.kind === 'dateTime' && count > 3
  const offset = zoned ? (temporal.offset ?? (side === 'low' ? 14 : -12) * 60) : undefined
  return [typed(formatTemporal({ ...temporal, parts: full.slice(0, count), offset, fraction: 3 }), type)]
}

function firstParts({ kind, parts }: Temporal): number[] {
  const first = kind === 'time' ? [0, 0, 0] : [1, 1, 1, 0, 0, 0]
  return first.map((value, i) => parts[i] ?? value)
}

function precisionOf(item: Typed): number | undefined {
  const temporal = temporalOf(item)
  if (temporal) {
    const steps = temporal.kind === 'time' ? TIME_DIGITS : DATE_DIGITS
    return steps[temporal.parts.length - 1]
  }
  return kindOf(item) ? toDecimal(item.value)?.scale : undefined
}
