// A small part of UCUM: enough units to convert and compare everyday quantities. https://ucum.org/ucum

import { Decimal, multiply, parseDecimal, tenTo } from './decimal.ts'

/** A unit as a multiple (`factor / divisor`) of base units, with the exponent of each base unit. */
export interface Unit {
  readonly factor: Decimal
  readonly divisor: Decimal
  readonly base: ReadonlyMap<string, number>
}

const ONE = new Decimal(1n, 0)

/** Unit code: factor, and the unit it is a multiple of; an absent unit is a base unit of its own. */
const UNITS: Readonly<Record<string, readonly [factor: string, of?: string, metric?: boolean]>> = {
  m: ['1', undefined, true],
  g: ['1', undefined, true],
  s: ['1', undefined, true],
  K: ['1', undefined, true],
  C: ['1', undefined, true],
  cd: ['1', undefined, true],
  rad: ['1', undefined, true],
  mol: ['1', undefined, true],
  Cel: ['1', undefined, true],
  '[degF]': ['1'],
  '[iU]': ['1', undefined, true],
  '[IU]': ['1', '[iU]', true],
  eq: ['1', 'mol', true],
  osm: ['1', 'mol', true],
  '%': ['0.01', '1'],
  min: ['60', 's'],
  h: ['60', 'min'],
  d: ['24', 'h'],
  wk: ['7', 'd'],
  a: ['365.25', 'd'],
  mo: ['30.4375', 'd'],
  l: ['0.001', 'm3', true],
  L: ['0.001', 'm3', true],
  t: ['1000', 'kg', true],
  ar: ['100', 'm2', true],
  N: ['1', 'kg.m/s2', true],
  Pa: ['1', 'N/m2', true],
  J: ['1', 'N.m', true],
  W: ['1', 'J/s', true],
  Hz: ['1', '/s', true],
  bar: ['100000', 'Pa', true],
  'm[Hg]': ['133322', 'Pa', true],
  'm[H2O]': ['9806.65', 'Pa', true],
  cal: ['4.184', 'J', true],
  A: ['1', 'C/s', true],
  V: ['1', 'J/C', true],
  kat: ['1', 'mol/s', true],
  U: ['0.000001', 'mol/min', true],
  '[in_i]': ['2.54', 'cm'],
  '[ft_i]': ['12', '[in_i]'],
  '[yd_i]': ['3', '[ft_i]'],
  '[mi_i]': ['5280', '[ft_i]'],
  '[lb_av]': ['453.59237', 'g'],
  '[oz_av]': ['28.349523125', 'g'],
  '[gr]': ['0.06479891', 'g'],
  '[foz_us]': ['29.5735295625', 'mL'],
  '[gal_us]': ['3785.411784', 'mL'],
}

const PREFIXES: Readonly<Record<string, number>> = {
  T: 12,
  G: 9,
  M: 6,
  k: 3,
  h: 2,
  da: 1,
  d: -1,
  c: -2,
  m: -3,
  u: -6,
  n: -9,
  p: -12,
  f: -15,
}

const known = new Map<string, Unit | undefined>()

/** The meaning of a UCUM code; undefined if it is not in the small table above. */
export function parseUnit(code: string): Unit | undefined {
  if (known.has(code)) return known.get(code)
  const unit = code.length > 50 ? undefined : parseTerms(code)
  if (known.size < 1000) known.set(code, unit)
  return unit
}

/** `kg.m/s2`: factors separated by `.` or `/`, each of which divides only what follows it. */
function parseTerms(code: string): Unit | undefined {
  let unit: Unit = { factor: ONE, divisor: ONE, base: new Map() }
  const parts = code.replace(/\{[^{}]*\}/g, '') || '1'
  for (const [, separator, symbol = ''] of parts.matchAll(/([./]|^)((?:\[[^\]]*\]|[^./[\]])*)/g)) {
    if (symbol === '' && separator !== '/' && parts[0] === '/') continue
    const component = parseComponent(symbol)
    if (!component) return undefined
    unit = combine(unit, component, separator === '/' ? -1 : 1)
  }
  return unit
}

/** A symbol with its exponent: `m2`, `s-1`, `10*3`. */
function parseComponent(symbol: string): Unit | undefined {
  const power = /^10[*^]([+-]?\d{1,2})?$/.exec(symbol)
  if (power) return tenToThe(Number(power[1] ?? 1))
  if (/^\d{1,9}$/.test(symbol)) return { factor: new Decimal(BigInt(symbol), 0), divisor: ONE, base: new Map() }
  const match = /^(.*?[^\d+-])([+-]?\d)?$/.exec(symbol)
  const unit = match?.[1] && parseSymbol(match[1])
  if (!unit) return undefined
  const exponent = Number(match[2] ?? 1)
  let result: Unit = { factor: ONE, divisor: ONE, base: new Map() }
  for (let i = 0; i < Math.abs(exponent); i++) result = combine(result, unit, Math.sign(exponent))
  return result
}

function parseSymbol(symbol: string): Unit | undefined {
  const plain = fromTable(symbol)
  if (plain) return plain
  for (const length of [1, 2]) {
    const prefix = symbol.slice(0, length)
    const name = symbol.slice(length)
    const unit = Object.hasOwn(PREFIXES, prefix) && Object.hasOwn(UNITS, name) && UNITS[name]?.[2] && fromTable(name)
    if (unit) return combine(unit, tenToThe(PREFIXES[prefix]!), 1)
  }
  return undefined
}

function fromTable(symbol: string): Unit | undefined {
  const row = Object.hasOwn(UNITS, symbol) ? UNITS[symbol] : undefined
  if (!row) return undefined
  const [text, of] = row
  const factor = parseDecimal(text) ?? ONE
  if (!of) return { factor, divisor: ONE, base: new Map([[symbol, 1]]) }
  const unit = parseUnit(of)
  return unit && { ...unit, factor: multiply(unit.factor, factor) }
}

function tenToThe(exponent: number): Unit {
  const power = new Decimal(tenTo(Math.abs(exponent)), 0)
  return { factor: exponent < 0 ? ONE : power, divisor: exponent < 0 ? power : ONE, base: new Map() }
}

/** The product (`sign` 1) or quotient (`sign` -1) of two units. */
export function combine(a: Unit, b: Unit, sign: number): Unit {
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
export function baseCode({ base }: Unit): string {
  const sorted = [...base].sort(([a], [b]) => (a < b ? -1 : 1))
  const term = ([name, exponent]: readonly [string, number]) =>
    name + (Math.abs(exponent) === 1 ? '' : Math.abs(exponent))
  const over = sorted.filter(([, exponent]) => exponent > 0).map(term)
  const under = sorted.filter(([, exponent]) => exponent < 0).map(each => `/${term(each)}`)
  return (over.join('.') || (under.length > 0 ? '' : '1')) + under.join('')
}
