// Quantities: UCUM units and calendar durations, compared and calculated with. http://hl7.org/fhirpath/N1/#quantity

import { add, compareNumbers, Decimal, divide, multiply, negate, round, toDecimal, trimZeros } from './decimal.ts'
import { baseCode, combine, parseUnit, type UcumUnit } from './ucum.ts'

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
/** Calendar words in days, for explicit conversions. http://hl7.org/fhirpath/#unit-conversions */
const CALENDAR_IN_DAYS: Readonly<Record<string, string>> = { ...CALENDAR_AS_UCUM, year: '365.d', month: '30.d' }
const WORDS_OF_UCUM: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CALENDAR_ROUGHLY).map(([word, code]) => [code, word]),
)
/** Years and months of the calendar measure each other, and nothing else exactly. */
const CALENDAR_MONTHS: Readonly<Record<string, bigint>> = { year: 12n, month: 1n }

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
  readonly unit: UcumUnit
}

function measured({ value, unit: code, calendar }: Quantity, words = CALENDAR_AS_UCUM): Measured | undefined {
  const unit = calendar ? wordUnit(code, words) : parseUnit(code)
  return unit && { value, unit }
}

function wordUnit(word: string, words: Readonly<Record<string, string>>): UcumUnit | undefined {
  const code = words[word]
  if (code !== undefined) return parseUnit(code)
  const months = CALENDAR_MONTHS[word]
  const one = new Decimal(1n, 0)
  if (months === undefined) return undefined
  return { factor: new Decimal(months, 0), divisor: one, base: new Map([['month', 1]]) }
}

/** The value in base units is this divided by the unit's divisor; temperatures are counted from absolute zero. */
function inBase({ value, unit }: Measured): Decimal {
  return multiply(unit.shift ? add(value, unit.shift) : value, unit.factor)
}

/** How much it is in base units, nearly; units that cannot be converted are their own. */
export function measureOf(quantity: Quantity): { readonly amount: number; readonly base: string } {
  const name = `${quantity.calendar} ${quantity.unit}`
  let scale = scales.get(name)
  if (!scale) {
    const unit = measured(quantity)?.unit
    const ratio = unit ? Number(String(unit.factor)) / Number(String(unit.divisor)) : 1
    scale = { ratio, shift: unit?.shift?.toJSON() ?? 0, base: unit ? baseCode(unit) : name }
    if (scales.size < 1000) scales.set(name, scale)
  }
  return { amount: (Number(String(quantity.value)) + scale.shift) * scale.ratio, base: scale.base }
}

const scales = new Map<string, { readonly ratio: number; readonly shift: number; readonly base: string }>()

/** -1, 0, 1; undefined if the units cannot be compared. */
export function compareQuantities(a: Quantity, b: Quantity, words = CALENDAR_AS_UCUM): number | undefined {
  if (a.unit === b.unit && a.calendar === b.calendar) return compareNumbers(a.value, b.value)
  const left = measured(a, words)
  const right = measured(b, words)
  if (!left || !right || !sameBase(left.unit, right.unit)) return undefined
  return compareNumbers(multiply(inBase(left), right.unit.divisor), multiply(inBase(right), left.unit.divisor))
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

function inUnitOf(quantity: Quantity, target: Quantity, words = CALENDAR_ROUGHLY): Decimal | undefined {
  if (hasUnitOf(quantity, target)) return quantity.value
  const from = measured(quantity, words)
  const to = measured(target, words)?.unit
  if (!from || !to || !sameBase(from.unit, to)) return undefined
  const value = divide(multiply(inBase(from), to.divisor), multiply(from.unit.divisor, to.factor))
  return value && to.shift ? trimZeros(add(value, negate(to.shift))) : value
}

function hasUnitOf(a: Quantity, b: Quantity): boolean {
  return a.unit === b.unit && a.calendar === b.calendar
}

/**
 * The quantity in another unit, a UCUM code or a calendar word; undefined where they measure different things. A number
 * without a unit takes the unit. http://hl7.org/fhirpath/#toquantityunit--string--quantity
 */
export function convertQuantity(quantity: Quantity, unit: string): Quantity | undefined {
  const word = unit.replace(/s$/, '')
  const target = Object.hasOwn(CALENDAR_ROUGHLY, word)
    ? new Quantity(quantity.value, word, true)
    : new Quantity(quantity.value, unit)
  if (quantity.unit === '1' && !quantity.calendar) return target
  const wanted = counterpart(target, quantity.calendar)
  const inMonths = Object.hasOwn(CALENDAR_MONTHS, quantity.unit) && Object.hasOwn(CALENDAR_MONTHS, wanted.unit)
  const value = inUnitOf(quantity, wanted, inMonths ? CALENDAR_ROUGHLY : CALENDAR_IN_DAYS)
  return value && new Quantity(value, target.unit, target.calendar)
}

/** Between calendar and UCUM is converted by the units of the source: half a year of the calendar is 182.5 days. */
function counterpart(target: Quantity, calendar: boolean): Quantity {
  if (target.calendar === calendar) return target
  const unit = (calendar ? WORDS_OF_UCUM : CALENDAR_ROUGHLY)[target.unit]
  return unit === undefined ? target : new Quantity(target.value, unit, calendar)
}

/** The sum, in the unit of the first; undefined if the units do not fit. */
export function addQuantities(a: Quantity, b: Quantity, sign: number): Quantity | undefined {
  if (!hasUnitOf(a, b) && (isTemperature(a) || isTemperature(b))) return undefined
  const other = inUnitOf(b, a)
  return other && new Quantity(add(a.value, sign < 0 ? negate(other) : other), a.unit, a.calendar)
}

/** True for degrees that do not begin at absolute zero: whether 1 'Cel' more is a difference cannot be decided. */
function isTemperature(quantity: Quantity): boolean {
  return measured(quantity)?.unit.shift !== undefined
}

/** The product (`sign` 1) or quotient (`sign` -1), in base units unless one side is a plain number. */
export function multiplyQuantities(a: Quantity, b: Quantity, sign: number): Quantity | undefined {
  if (b.unit === '1' && !b.calendar) {
    const value = sign > 0 ? multiply(a.value, b.value) : divide(a.value, b.value)
    return value && new Quantity(value, a.unit, a.calendar)
  }
  if (sign > 0 && a.unit === '1' && !a.calendar) return multiplyQuantities(b, a, sign)
  const left = measured(a)
  const right = measured(b)
  if (!left || !right || !isRatio(left.unit) || !isRatio(right.unit)) return undefined
  const unit = combine(left.unit, right.unit, sign)
  const numerator = multiply(multiply(left.value, unit.factor), sign > 0 ? right.value : new Decimal(1n, 0))
  const value = divide(numerator, sign > 0 ? unit.divisor : multiply(unit.divisor, right.value))
  return value && new Quantity(value, baseCode(unit))
}

/** True for units that products can be made of: no temperatures, no years of the calendar. */
function isRatio({ shift, base }: UcumUnit): boolean {
  return !shift && !base.has('month')
}

function sameBase(a: UcumUnit, b: UcumUnit): boolean {
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
