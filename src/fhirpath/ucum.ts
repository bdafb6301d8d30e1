// UCUM codes in base units: how many of which they are. https://ucum.org/ucum

import { ucumPrefixes, ucumUnits } from '../definitions/ucum.ts'
import { Decimal, multiply, parseDecimal } from './decimal.ts'
import { type UcumFactor, ucumFactors } from './ucum-code.ts'

/** A unit as a multiple (`factor / divisor`) of base units, with the exponent of each base unit. */
export interface UcumUnit {
  readonly factor: Decimal
  readonly divisor: Decimal
  readonly base: ReadonlyMap<string, number>
  /** For a temperature by itself (`Cel`, `[degF]`): what is added to a value before it is multiplied. */
  readonly shift?: Decimal
}

const ONE = new Decimal(1n, 0)
const NOTHING: UcumUnit = { factor: ONE, divisor: ONE, base: new Map() }

const known = new Map<string, UcumUnit | undefined>()

/** The meaning of a UCUM code; undefined if it is none, or too long to compute with. */
export function parseUnit(code: string): UcumUnit | undefined {
  if (known.has(code)) return known.get(code)
  const unit = code.length > 50 ? undefined : product(ucumFactors(code === '' ? '1' : code))
  if (known.size < 1000) known.set(code, unit)
  return unit
}

/** Units raised to higher powers than this, all together, are not computed with. */
const MOST_POWERS = 60

function product(factors: readonly UcumFactor[] | undefined): UcumUnit | undefined {
  if (!factors || factors.reduce((sum, { power }) => sum + Math.abs(power), 0) > MOST_POWERS) return undefined
  const [first] = factors
  if (factors.length === 1 && first!.power === 1) return meaning(first!)
  return factors.reduce((unit, factor) => raised(unit, meaning(factor), factor.power), NOTHING)
}

function raised(unit: UcumUnit, by: UcumUnit, power: number): UcumUnit {
  let result = unit
  for (let i = 0; i < Math.abs(power); i++) result = combine(result, by, Math.sign(power))
  return result
}

/** One factor, without its power. */
function meaning({ prefix, unit, number }: UcumFactor): UcumUnit {
  if (unit === undefined) return { ...NOTHING, factor: parseDecimal(number!)! }
  const row = ucumUnits.get(unit)!
  if (prefix === undefined) return defined(unit)
  // A value such as 1 mCel has no conversion: what is added to it does not follow the prefix.
  if (row.shift) return { ...NOTHING, base: new Map([[prefix + unit, 1]]) }
  return combine(defined(unit), { ...NOTHING, factor: parseDecimal(ucumPrefixes.get(prefix)!)! }, 1)
}

function defined(code: string): UcumUnit {
  const { of, shift } = ucumUnits.get(code)!
  if (!of) return { ...NOTHING, base: new Map([[code, 1]]) }
  const { factor, divisor, base } = parseUnit(of.unit)!
  return {
    factor: multiply(factor, parseDecimal(of.factor)!),
    divisor,
    base,
    shift: shift ? parseDecimal(shift) : undefined,
  }
}

/** The product (`sign` 1) or quotient (`sign` -1) of two units; within it, a degree of temperature is a difference. */
export function combine(a: UcumUnit, b: UcumUnit, sign: number): UcumUnit {
  const base = new Map(a.base)
  for (const [name, exponent] of b.base) {
    const sum = (base.get(name) ?? 0) + exponent * sign
    if (sum === 0) base.delete(name)
    else base.set(name, sum)
  }
  return {
    factor: multiply(a.factor, sign > 0 ? b.factor : b.divisor),
    divisor: multiply(a.divisor, sign > 0 ? b.divisor : b.factor),
    base,
  }
}

/** The code of the base units alone: `g/m`, `m2`, `1`. */
export function baseCode({ base }: UcumUnit): string {
  const sorted = [...base].sort(([a], [b]) => (a < b ? -1 : 1))
  const term = ([name, exponent]: readonly [string, number]) =>
    name + (Math.abs(exponent) === 1 ? '' : Math.abs(exponent))
  const over = sorted.filter(([, exponent]) => exponent > 0).map(term)
  const under = sorted.filter(([, exponent]) => exponent < 0).map(each => `/${term(each)}`)
  return (over.join('.') || (under.length > 0 ? '' : '1')) + under.join('')
}
