// The grammar of UCUM codes: `kg.m/s2`, `10*3/uL`, `mL/min/{1.73_m2}`. https://ucum.org/ucum#section-Grammar-of-Units-and-Unit-Terms

import { ucumPrefixes, ucumUnits } from '../definitions/ucum.ts'

/** One part of a code: `mm2` after a slash is the prefix `m`, the unit `m` and the power -2. A number has no unit. */
export interface UcumFactor {
  readonly prefix?: string
  readonly unit?: string
  readonly number?: string
  readonly power: number
}

/** Longer codes are refused; the longest in use have some 40 characters. */
export const LONGEST_UCUM = 200
const DEEPEST = 20

/** True for a code that UCUM can read: known units, prefixes only where they may stand, well-formed. */
export function isUcumCode(code: string): boolean {
  return ucumFactors(code) !== undefined
}

/** An operator or a parenthesis; an annotation; or a unit with its exponent, brackets and all. */
const TOKEN = /([./()])|(\{[ -z|~]*\})|((?:\[[^[\]]*\]|[^./(){}[\]])+)/y

/** The factors of a code, parentheses resolved; undefined for what is not UCUM. */
export function ucumFactors(code: string): UcumFactor[] | undefined {
  if (code === '' || code.length > LONGEST_UCUM) return undefined
  const factors: UcumFactor[] = []
  const signs = [1]
  let sign = 1
  let state: 'start' | 'operator' | 'operand' = 'start'
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < code.length) {
    const match = TOKEN.exec(code)
    if (!match) return undefined
    const [, symbol, annotation, text] = match
    if (symbol === '.' || symbol === '/') {
      if (state === 'operator' || (state === 'start' && symbol === '.')) return undefined
      sign = signs.at(-1)! * (symbol === '/' ? -1 : 1)
      state = 'operator'
    } else if (symbol === ')') {
      if (state !== 'operand' || signs.length === 1) return undefined
      signs.pop()
    } else if (state === 'operand') {
      if (!annotation) return undefined
    } else if (symbol === '(') {
      if (signs.push(sign) > DEEPEST) return undefined
      state = 'start'
    } else {
      const factor = annotation ? { number: '1', power: sign } : factorOf(text!, sign)
      if (!factor) return undefined
      factors.push(factor)
      state = 'operand'
    }
  }
  return state === 'operand' && signs.length === 1 ? factors : undefined
}

/** A whole number, or a unit with its exponent: `m2`, `s-1`, `10*3`. */
function factorOf(text: string, sign: number): UcumFactor | undefined {
  if (/^\d{1,18}$/.test(text)) return { number: text, power: sign }
  const match = /^(.*[^\d+-])([+-]?\d{1,2})?$/.exec(text)
  const found = match && atom(match[1]!)
  return found ? { ...found, power: sign * Number(match[2] ?? 1) } : undefined
}

function atom(symbol: string): { prefix?: string; unit: string } | undefined {
  if (ucumUnits.has(symbol)) return { unit: symbol }
  for (const length of [1, 2]) {
    const prefix = symbol.slice(0, length)
    const unit = symbol.slice(length)
    if (ucumPrefixes.has(prefix) && ucumUnits.get(unit)?.metric) return { prefix, unit }
  }
  return undefined
}
