// Health IDs: CC-XXXX-XXXX-XXXX, a country, ten random symbols and two check symbols. Interface §2.1; after Faldum and
// Pommerening, "An optimal code for patient identifiers" (2005).

import { randomBytes } from 'node:crypto'

/** Crockford's base32: no I, L, O and U. */
const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const FOLDED = /^[A-Z]{2}[0-9A-HJKMNP-TV-Z]{12}$/
const SPACES_AND_DASHES = /[\s\p{Pd}\u00ad\u2212\u200b]/gu
const LENGTH = 14
const COUNTRY = 2
const BODY = 12

/** GF(32) by x^5 + x^2 + 1: the powers of x, twice round, and their logarithms. */
const POWERS: number[] = []
const LOGS: number[] = []
for (let power = 0, value = 1; power < 62; power++) {
  POWERS.push(value)
  LOGS[value] = power % 31
  value = value & 16 ? ((value << 1) & 31) ^ 5 : value << 1
}

/** The reading of a text: a Health ID in canonical form; or no Health ID; or one in form, but with wrong check symbols. */
export type Reading =
  | { readonly healthId: string }
  | { readonly fault: 'malformed' }
  | { readonly fault: 'checksum'; readonly form: string }

/** The country and the symbols as they count: upper case, without spaces and dashes; in the body O is 0, I and L are 1. */
export function fold(text: string): string {
  const bare = /[^0-9A-Z]/.test(text)
    ? text.replace(SPACES_AND_DASHES, '').replace(/[a-z]/g, letter => letter.toUpperCase())
    : text
  return bare.slice(0, COUNTRY) + bare.slice(COUNTRY).replaceAll('O', '0').replace(/[IL]/g, '1')
}

/** Reads a Health ID as people write it. It is never corrected: what fails the check is not a Health ID. */
export function parse(text: string): Reading {
  if (text.length > 100) return { fault: 'malformed' }
  const folded = fold(text)
  if (!FOLDED.test(folded)) return { fault: 'malformed' }
  const [first, second] = syndromes(valuesOf(folded))
  return first === 0 && second === 0 ? { healthId: canonical(folded) } : { fault: 'checksum', form: canonical(folded) }
}

/** A Health ID among other things, with dashes or without; what is a part of a longer word is none. */
const within = /(?<![0-9A-Za-z])[A-Za-z]{2}-?(?:[0-9A-Za-z]{4}-?){2}[0-9A-Za-z]{4}(?![0-9A-Za-z])/g

/** True if a text names a patient by Health ID, alone or among other things. */
export const holdsHealthId = (text: string): boolean =>
  (text.match(within) ?? []).some(each => 'healthId' in parse(each))

/**
 * Mints a Health ID. The caller that stores it checks that it is new.
 * @param random returns the requested number of random bytes
 * @throws RangeError if the country is not two letters
 */
export function mint(country: string, random: (bytes: number) => Uint8Array = randomBytes): string {
  if (!/^[A-Z]{2}$/.test(country)) throw new RangeError('A country must be two capital letters (ISO 3166-1).')
  const body = Array.from(random(BODY - COUNTRY), byte => SYMBOLS[byte & 31]!).join('')
  const values = valuesOf(country + body)
  const checks = checkValues(values)
  return canonical(country + body + SYMBOLS[checks[0]] + SYMBOLS[checks[1]])
}

/**
 * Returns the one Health ID from which this form differs by a single symbol, or by two neighbours swapped; undefined if there is
 * none. Use it only to ask the sender, and only if it is registered: with two wrong symbols it would be another patient's.
 */
export function neighbour(form: string): string | undefined {
  const folded = fold(form)
  if (!FOLDED.test(folded)) return undefined
  const [first, second] = syndromes(valuesOf(folded))
  if (first === 0 || second === 0) return undefined
  const place = (LOGS[second]! - LOGS[first]! + 31) % 31
  const near = place < LENGTH ? substituted(folded, place, first) : swapped(folded, place)
  return near !== undefined && 'healthId' in parse(near) ? canonical(near) : undefined
}

/** With the value at this place changed by what makes the first sum zero. */
function substituted(folded: string, place: number, first: number): string {
  const value = valuesOf(folded)[place]! ^ divided(first, place)
  const symbol = place < COUNTRY ? String.fromCharCode(64 + value) : SYMBOLS[value]
  return folded.slice(0, place) + symbol + folded.slice(place + 1)
}

/** Swapping neighbours multiplies the ratio of the sums by 1 + x as well, so these places lie behind those of substitutions. */
function swapped(folded: string, ratio: number): string | undefined {
  const place = ratio - LOGS[1 ^ POWERS[1]!]!
  if (place < 0 || place === COUNTRY - 1) return undefined
  return folded.slice(0, place) + folded[place + 1] + folded[place] + folded.slice(place + 2)
}

function valuesOf(folded: string): number[] {
  const values: number[] = []
  for (let place = 0; place < folded.length; place++)
    values.push(place < COUNTRY ? folded.charCodeAt(place) - 64 : SYMBOLS.indexOf(folded[place]!))
  return values
}

/** The sums of value times x^place and of value times x^(2 place), which are both zero in a Health ID. */
function syndromes(values: readonly number[]): [number, number] {
  let first = 0
  let second = 0
  for (let place = 0; place < values.length; place++) {
    first ^= times(values[place]!, place)
    second ^= times(values[place]!, 2 * place)
  }
  return [first, second]
}

/** The two values at places 12 and 13 that make both sums zero. */
function checkValues(values: readonly number[]): [number, number] {
  const [first, second] = syndromes(values)
  const divisor = LOGS[POWERS[37 % 31]! ^ POWERS[38 % 31]!]!
  return [
    divided(times(first, 26) ^ times(second, 13), divisor),
    divided(times(second, 12) ^ times(first, 24), divisor),
  ]
}

function times(value: number, power: number): number {
  return value === 0 ? 0 : POWERS[LOGS[value]! + (power % 31)]!
}

function divided(value: number, power: number): number {
  return times(value, 31 - power)
}

function canonical(folded: string): string {
  return [folded.slice(0, 2), folded.slice(2, 6), folded.slice(6, 10), folded.slice(10)].join('-')
}
