// The values of a query: prefixes, numbers with the precision they were written with, dates, tokens.
import { dateInterval, type Interval } from '../dates.ts'
import { malformed, splitEscaped, unescaped } from './query-text.ts'
import type { Prefix } from './request.ts'

const prefixes = new Set<string>(['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'])

/** Splits `ge2020` into its prefix and the rest; no prefix means eq. */
function splitPrefix(value: string): { prefix: Prefix; rest: string } {
  const head = value.slice(0, 2)
  return prefixes.has(head) ? { prefix: head as Prefix, rest: value.slice(2) } : { prefix: 'eq', rest: value }
}

/** The prefix of a date, number or quantity of a query; `eq` without one. */
export const prefixOf = (value: string): Prefix => splitPrefix(value).prefix

/** A date of a query. @throws Failure MALFORMED_REQUEST if it is none. */
export function queryDate(code: string, value: string): { prefix: Prefix; interval: Interval } {
  const { prefix, rest } = splitPrefix(value)
  const interval = dateInterval(rest.replace(' ', '+'))
  if (!interval)
    throw malformed(
      code,
      `${code}: "${rest.slice(0, 40)}" is not a date: write 2024, 2024-05, 2024-05-31 or 2024-05-31T14:00:00Z.`,
      'value',
    )
  return { prefix, interval }
}

export interface QueryNumber {
  readonly prefix: Prefix
  readonly value: number
  /** What its last digit leaves open: 100 stands for 99.5 up to, but not including, 100.5 (search.html#number). */
  readonly low: number
  readonly high: number
}

const number = /^([+-]?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/

/** A number of a query. @throws Failure MALFORMED_REQUEST if it is none. */
export function queryNumber(code: string, text: string): QueryNumber {
  const { prefix, rest } = splitPrefix(text)
  const match = number.exec(rest)
  const value = Number(rest)
  if (!match || !Number.isFinite(value))
    throw malformed(code, `${code}: "${rest.slice(0, 40)}" is not a number.`, 'value')
  const [, whole, fraction = '', exponent = 0] = match
  // Halves are added to the digits, not to the double: 0.1 + 0.05 is more than 0.15.
  const digits = BigInt(whole! + fraction) * 10n
  const scale = Number(exponent) - fraction.length - 1
  const [low, high] = [Number(`${digits - 5n}e${scale}`), Number(`${digits + 5n}e${scale}`)]
  // More digits than a double has: what is stored as the same double is equal.
  return low < high ? { prefix, value, low, high } : { prefix, value, low, high: after(value) }
}

/** The next double. */
function after(value: number): number {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  if (value === 0) return Number.MIN_VALUE
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n))
  return bits.getFloat64(0)
}

export interface QueryQuantity extends QueryNumber {
  /** Empty: any. Undefined: `unit` may be either a system or a code. */
  readonly system: string | undefined
  /** Empty: any. */
  readonly unit: string
}

/** `5.4|system|code`, `5.4||code`, `5.4`, and beyond R4 the two-part `5.4|system` or `5.4|code` that some clients send. */
export function queryQuantity(code: string, text: string): QueryQuantity {
  const [amount, ...rest] = splitEscaped(text, '|').map(unescaped)
  if (rest.length > 2) throw malformed(code, `${code}: a quantity must have the form number|system|code.`, 'value')
  const [system, unit] = rest.length === 1 ? [undefined, rest[0]!] : [rest[0] ?? '', rest[1] ?? '']
  return { ...queryNumber(code, amount!), system, unit }
}

export interface QueryToken {
  /** Undefined: any system; empty: none. */
  readonly system: string | undefined
  /** Undefined: any code of the system. */
  readonly code: string | undefined
}

/** `code`, `system|code`, `|code` or `system|`. */
export function queryToken(code: string, text: string): QueryToken {
  const parts = splitEscaped(text, '|').map(unescaped)
  if (parts.length === 1) return { system: undefined, code: parts[0]! }
  if (parts.length > 2)
    throw malformed(
      code,
      `${code}: a token must have the form code, system|code, |code or system|; write \\| for a bar in a code.`,
      'value',
    )
  if (parts[0] === '' && parts[1] === '')
    throw malformed(code, `${code}: "|" names neither a system nor a code.`, 'value')
  return { system: parts[0]!, code: parts[1] === '' ? undefined : parts[1]! }
}
