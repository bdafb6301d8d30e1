// Quantities: UCUM units and calendar durations, compared and calculated with. http://hl7.org/fhirpath/N1/#quantity

import { add, compareNumbers, Decimal, divide, multiply, negate, round, toDecimal } from './decimal.ts'
import { baseCode, combine, parseUnit, type Unit } from './ucum.ts'

const UCUM = 'http://unitsofmeasure.org'

/** A number with a UCUM code, or with a calendar word (`day`) when `calendar` is true. */
export class Quantity {
  readonly value: Decimal
  readonly unit: string
  readonly calendar: boolean

  constructor(value: Decimal, unit: string, calendar = false) {
    this.value = value
    this.unit = unit
    this.calendar = calendar
  }

  /** As FHIR has it. https://hl7.org/fhir/R4/datatypes.html#Quantity */
  toJSON(): Record<string, unknown> {
    const value = this.value.toJSON()
    return this.calendar ? { value, unit: this.unit } : { value, unit: this.unit, system: UCUM, code: this.unit }
  }

  toString(): string {
    return this.calendar ? `${this.value} ${this.unit}` : `${this.value} '${this.unit}'`
  }
}

/** Calendar words that mean the same as a UCUM unit; years and months do not. http://hl7.org/fhirpath/N1/#time-valued-quantities */
const CALENDAR_AS_UCUM: Readonly<Record<string, string>> = {
  week: 'wk',
  day: 'd',
  hour: 'h',
  minute: 'min',
  second: 's',
  millisecond: 'ms',
}
const CALENDAR_ROUGHLY: Readonly<Record<string, string>> = { ...CALENDAR_AS_UCUM, year: 'a', month: 'mo' }

/** A FHIR Quantity (JSON), a System Quantity or a number as a quantity. */
export function toQuantity(value: unknown): Quantity | undefined {
  if (value instanceof Quantity) return value
  const number = toDecimal(value)
  if (number) return new Quantity(number, '1')
  if (typeof value !== 'object' || value === null) return undefined
  const json = value as { value?: unknown; unit?: unknown; code?: unknown; system?: unknown; comparator?: unknown }
  const amount = toDecimal(json.value)
  if (!amount || json.comparator !== undefined) return undefined
  const unit = json.system === UCUM ? json.code : (json.code ?? json.unit)
  return new Quantity(amount, typeof unit === 'string' ? unit : '1')
}

interface Measured {
  readonly value: Decimal
  readonly unit: Unit
}

function measured(quantity: Quantity, words = CALENDAR_AS_UCUM): Measured | undefined {
  const code = quantity.calendar ? words[quantity.unit] : quantity.unit
  const unit = code === undefined ? undefined : parseUnit(code)
  return unit && { value: quantity.value, unit }
}

/** How much it is in base units, nearly; units that cannot be converted are their own. */
export function measureOf(quantity: Quantity): { readonly amount: number; readonly base: string } {
  const name = `${quantity.calendar} ${quantity.unit}`
  let scale = scales.get(name)
  if (!scale) {
    const unit = measured(quantity)?.unit
    const ratio = unit ? Number(String(unit.factor)) / Number(String(unit.divisor)) : 1
    scale = { ratio, base: unit ? baseCode(unit) : name }
    if (scales.size < 1000) scales.set(name, scale)
  }
  return { amount: Number(String(quantity.value)) * scale.ratio, base: scale.base }
}

const scales = new Map<string, { readonly ratio: number; readonly base: string }>()

/** -1, 0, 1; undefined if the units cannot be compared. */
export function compareQuantities(a: Quantity, b: Quantity, words = CALENDAR_AS_UCUM): number | undefined {
  if (a.unit === b.unit && a.calendar === b.calendar) return compareNumbers(a.value, b.value)
  const left = measured(a, words)
  const right = measured(b, words)
  if (!left || !right || !sameBase(left.unit, right.unit)) return undefined
  return compareNumbers(
    multiply(multiply(left.value, left.unit.factor), right.unit.divisor),
    multiply(multiply(right.value, right.unit.factor), left.unit.divisor),
  )
}

/** False when the units measure different things; undefined when it takes a calendar to say (a year and 365 days). */
export function equalQuantities(a: Quantity, b: Quantity): boolean | undefined {
  const order = compareQuantities(a, b)
  if (order !== undefined) return order === 0
  return compareQuantities(a, b, CALENDAR_ROUGHLY) === undefined ? false : undefined
}

/** True if the units measure the same thing. */
export function comparableQuantities(a: Quantity, b: Quantity): boolean {
  return compareQuantities(a, b) !== undefined
}

/** Equal after rounding to the fewer decimal places of the two. http://hl7.org/fhirpath/N1/#equivalent */
export function equivalentQuantities(a: Quantity, b: Quantity): boolean {
  const other = inUnitOf(b, a)
  if (!other) return false
  const places = Math.min(a.value.scale, other.scale)
  return compareNumbers(round(a.value, places), round(other, places)) === 0
}

function inUnitOf(quantity: Quantity, target: Quantity): Decimal | undefined {
  if (quantity.unit === target.unit && quantity.calendar === target.calendar) return quantity.value
  const from = measured(quantity, CALENDAR_ROUGHLY)
  const to = measured(target, CALENDAR_ROUGHLY)
  if (!from || !to || !sameBase(from.unit, to.unit)) return undefined
  const ratio = combine(from.unit, to.unit, -1)
  return divide(multiply(from.value, ratio.factor), ratio.divisor)
}

/** The sum, in the unit of the first; undefined if the units do not fit. */
export function addQuantities(a: Quantity, b: Quantity, sign: number): Quantity | undefined {
  const other = inUnitOf(b, a)
  return other && new Quantity(add(a.value, sign < 0 ? negate(other) : other), a.unit, a.calendar)
}

/** The product (`sign` 1) or quotient (`sign` -1), in base units unless one side is a plain number. */
export function multiplyQuantities(a: Quantity, b: Quantity, sign: number): Quantity | undefined {
  if (b.unit === '1' && !b.calendar) {
    const value = sign > 0 ? multiply(a.value, b.value) : divide(a.value, b.value)
    return value && new Quantity(value, a.unit, a.calendar)
  }
  const left = measured(a)
  const right = measured(b)
  if (!left || !right) return undefined
  const unit = combine(left.unit, right.unit, sign)
  const numerator = multiply(multiply(left.value, unit.factor), sign > 0 ? right.value : new Decimal(1n, 0))
  const value = divide(numerator, sign > 0 ? unit.divisor : multiply(unit.divisor, right.value))
  return value && new Quantity(value, baseCode(unit))
}

function sameBase(a: Unit, b: Unit): boolean {
  return baseCode(a) === baseCode(b)
}

/** `4 days`, `1 'wk'`, `1.5`: the texts that toQuantity() accepts. http://hl7.org/fhirpath/N1/#toquantityunit-string-quantity */
export function parseQuantity(text: string): Quantity | undefined {
  const match =
    /^([+-]?\d+(?:\.\d+)?)(?:\s*'([^']+)'|\s+(year|month|week|day|hour|minute|second|millisecond)s?)?$/.exec(text)
  const value = match?.[1] && toDecimal({ rawJSON: match[1] })
  if (!value) return undefined
  if (match?.[3]) return new Quantity(value, match[3], true)
  return new Quantity(value, match?.[2] ?? '1')
}
