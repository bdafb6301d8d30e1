// Exact decimals: JSON numbers, literals with their trailing zeros, and arithmetic on both.
// http://hl7.org/fhirpath/N1/#decimal · https://hl7.org/fhir/R4/datatypes.html#decimal

/** `digits` divided by ten to the power of `scale`; 1.50 is 150 and 2. */
export class Decimal {
  readonly digits: bigint
  readonly scale: number

  constructor(digits: bigint, scale: number) {
    this.digits = digits
    this.scale = scale
  }

  toString(): string {
    const negative = this.digits < 0n
    const text = (negative ? -this.digits : this.digits).toString().padStart(this.scale + 1, '0')
    const whole = text.slice(0, text.length - this.scale)
    return (negative ? '-' : '') + (this.scale > 0 ? `${whole}.${text.slice(-this.scale)}` : whole)
  }

  toJSON(): number {
    return Number(this.toString())
  }
}

/** Beyond this many digits a number is not computed with. */
const MAX_DIGITS = 400

/** Longer than any product of two numbers that can be read. */
const LONGEST = tenTo(2 * MAX_DIGITS)

/** True for a number that is too long to be computed with again and again. */
export function hasTooManyDigits({ digits, scale }: Decimal): boolean {
  return scale > 2 * MAX_DIGITS || digits > LONGEST || digits < -LONGEST
}

/** Reads `-1.50` or `1.5e-7`; undefined if the text is no number. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^([+-]?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const scale = fraction.length - Number(exponent)
  if (Math.abs(scale) > MAX_DIGITS || text.length > MAX_DIGITS) return undefined
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? new Decimal(digits, scale) : new Decimal(digits * tenTo(-scale), 0)
}

/**
 * The one way numbers are read from values: JS numbers, our decimals, and raw JSON numbers kept as text
 * (`{ rawJSON: '1.50' }`, as JSON.rawJSON makes them). Undefined for anything else.
 */
export function toDecimal(value: unknown): Decimal | undefined {
  if (value instanceof Decimal) return value
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? new Decimal(BigInt(value), 0) : parseDecimal(String(value))
  if (typeof value !== 'object' || value === null) return undefined
  const raw: unknown = 'rawJSON' in value ? value.rawJSON : undefined
  return typeof raw === 'string' ? parseDecimal(raw) : undefined
}

/** True for every value `toDecimal` reads. */
export function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || toDecimal(value) !== undefined
}

function tenTo(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  if (a.scale === b.scale) return [a.digits, b.digits, a.scale]
  if (a.scale > b.scale) return [a.digits, b.digits * tenTo(a.scale - b.scale), a.scale]
  return [a.digits * tenTo(b.scale - a.scale), b.digits, b.scale]
}

export function add(a: Decimal, b: Decimal): Decimal {
  const [x, y, scale] = aligned(a, b)
  return new Decimal(x + y, scale)
}

export function negate(a: Decimal): Decimal {
  return new Decimal(-a.digits, a.scale)
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return new Decimal(a.digits * b.digits, a.scale + b.scale)
}

/** The quotient to 16 decimal places, without trailing zeros; undefined for division by zero. */
export function divide(a: Decimal, b: Decimal): Decimal | undefined {
  if (b.digits === 0n) return undefined
  const [x, y] = aligned(a, b)
  const precise = new Decimal((x * tenTo(18)) / y, 18)
  return trimZeros(round(precise, 16))
}

/** The whole part of the quotient, and what remains. http://hl7.org/fhirpath/N1/#div */
export function divideWhole(a: Decimal, b: Decimal): { quotient: Decimal; rest: Decimal } | undefined {
  if (b.digits === 0n) return undefined
  const [x, y, scale] = aligned(a, b)
  return { quotient: new Decimal(x / y, 0), rest: new Decimal(x % y, scale) }
}

/** -1, 0 or 1. Two JS numbers are compared as such. */
export function compareNumbers(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  const left = toDecimal(a)
  const right = toDecimal(b)
  if (!left || !right) return Number.NaN
  const [x, y] = aligned(left, right)
  return x < y ? -1 : x > y ? 1 : 0
}

export type Rounding = 'half' | 'down' | 'floor' | 'ceiling'

/** To `places` decimal places; halves away from zero. Never adds zeros. */
export function round(value: Decimal, places: number, how: Rounding = 'half'): Decimal {
  if (places >= value.scale) return value
  const unit = tenTo(value.scale - places)
  const rest = value.digits % unit
  const whole = value.digits / unit
  const sign = value.digits < 0n ? -1n : 1n
  const away =
    (how === 'half' && rest * sign * 2n >= unit) || (how === 'floor' && rest < 0n) || (how === 'ceiling' && rest > 0n)
  return new Decimal(away ? whole + sign : whole, places)
}

/** With exactly `places` decimal places, adding zeros if need be. */
export function toPlaces(value: Decimal, places: number, how: Rounding = 'half'): Decimal {
  if (places < value.scale) return round(value, places, how)
  return new Decimal(value.digits * tenTo(places - value.scale), places)
}

export function trimZeros(value: Decimal): Decimal {
  let { digits, scale } = value
  for (; scale > 0 && digits % 10n === 0n; scale--) digits /= 10n
  return new Decimal(digits, scale)
}
