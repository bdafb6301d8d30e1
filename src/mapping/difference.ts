// Differences of two JSON values: each place once, as deep in the values as possible.

import { digitsOf, isJsonNumber, isObject } from '../lib/json.ts'

/** One place where the values differ. */
export interface Difference {
  /** `code.coding[0].display`; empty for the whole. */
  readonly path: string
  /** Undefined where nothing was expected. */
  readonly expected: unknown
  /** Undefined where there is nothing. */
  readonly got: unknown
}

/**
 * Returns all differences between two values, in the order of the expected one. The order of properties has no meaning; numbers are
 * equal if their digits are, since 1.50 is more precise than 1.5 (https://hl7.org/fhir/R4/datatypes.html#decimal).
 */
export function differences(expected: unknown, got: unknown, path = ''): Difference[] {
  if (Array.isArray(expected) && Array.isArray(got)) {
    const places = Array.from({ length: Math.max(expected.length, got.length) }, (_, index) => index)
    return places.flatMap(index => differences(expected[index], got[index], `${path}[${index}]`))
  }
  if (isObject(expected) && isObject(got)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(got)])
    return [...keys].flatMap(key => differences(expected[key], got[key], path === '' ? key : `${path}.${key}`))
  }
  return isSame(expected, got) ? [] : [{ path, expected, got }]
}

/** A difference in words: `code.text: expected "a", got "b"`. */
export function differenceText({ path, expected, got }: Difference): string {
  const place = path || 'the whole'
  if (got === undefined) return `${place}: expected ${shortened(expected)}, but it is missing`
  if (expected === undefined) return `${place}: not expected, got ${shortened(got)}`
  return `${place}: expected ${shortened(expected)}, got ${shortened(got)}`
}

function isSame(a: unknown, b: unknown): boolean {
  return isJsonNumber(a) && isJsonNumber(b) ? digitsOf(a) === digitsOf(b) : a === b
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 197)}…` : text
}
