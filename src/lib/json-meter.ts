// Counts how deep and how large JSON is before it is parsed, byte by byte as it arrives: no recursion, no memory of what was read.
import { Failure } from './failure.ts'

export interface JsonBounds {
  /** Levels of objects and lists. */
  readonly depth: number
  /** Values of any kind: objects, lists, texts, numbers. */
  readonly values: number
  /** Members of one object: no type has a tenth of them. */
  readonly members: number
}

/**
 * What JSON from outside may hold. Every function that walks a body may be recursive, because none is deeper than this. R4's
 * own examples have 21 levels; a record of a whole life has some 70,000 values.
 */
export const bodyBounds: JsonBounds = { depth: 100, values: 500_000, members: 1000 }

export interface JsonMeter {
  /**
   * Takes the next bytes, in UTF-8.
   * @throws Failure MALFORMED_REQUEST if it is too deep, PAYLOAD_TOO_LARGE if it has too many values, VALIDATION_FAILED if an object
   * has too many members.
   */
  add(bytes: Buffer): void
  /** Values so far; never less than there are. */
  values(): number
  /** True if `JSON.parse` keeps the digits of every number so far; false if it may lose some, and where a number arrived in parts. */
  keepsDigits(): boolean
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const plus = 0x2b
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const exponent = 0x65
// `[` and `{`, `]` and `}`: the same but for one bit.
const opening = 0x5b
const closing = 0x5d
const braceBit = 0x20

/** Creates a meter for one text. It counts invalid JSON as if it were valid; the parser refuses it. */
export function createJsonMeter(bounds: JsonBounds = bodyBounds): JsonMeter {
  // Of each level that is open: commas of an object; of a list none are counted.
  const commas: number[] = []
  const { depth: deepest, values: most, members } = bounds
  let [depth, values] = [0, 1]
  let isText = false
  let isKept = true
  /** The next byte follows a backslash. */
  let isEscaped = false
  return {
    values: () => values,
    keepsDigits: () => isKept,
    add(bytes) {
      const { length } = bytes
      // Variables of the loop are in registers, those of the meter in memory.
      let [level, counted, inText] = [depth, values, isText]
      let at = 0
      if (isEscaped && length > 0) {
        isEscaped = false
        at = 1
      }
      for (; at < length; at++) {
        let byte = bytes[at]!
        if (inText) {
          while (byte !== quote && byte !== backslash && ++at < length) byte = bytes[at]!
          if (byte === quote) inText = false
          else if (byte === backslash && ++at === length) isEscaped = true
        } else if (byte === quote) inText = true
        else if (byte === comma) {
          counted++
          if (++commas[level]! >= members) throw tooBroad(members)
        } else if ((byte & ~braceBit) === opening) {
          counted++
          if (++level > deepest) throw tooDeep(deepest)
          commas[level] = byte & braceBit ? 0 : Number.NEGATIVE_INFINITY
        } else if ((byte & ~braceBit) === closing) level--
        else if (byte <= nine && (byte >= zero || byte === minus)) {
          const end = endOfNumber(bytes, at)
          isKept &&= end < length && at > 0 && keepsDigits(bytes, at, end)
          at = end - 1
        }
      }
      depth = level
      values = counted
      isText = inText
      if (values > most) throw tooMany(most)
    },
  }
}

/** Returns where the number ends that has a byte at this place. */
function endOfNumber(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at]!
    const isPart = (byte <= nine && byte >= zero) || byte === point || (byte | 0x20) === exponent
    if (!isPart && byte !== minus && byte !== plus) return at
  }
  return bytes.length
}

/** Any integer of so many digits is a double that JavaScript writes with these digits. */
const safeDigits = 15

function keepsDigits(bytes: Buffer, from: number, end: number): boolean {
  let isShortInteger = end - from <= safeDigits
  for (let at = from; isShortInteger && at < end; at++) isShortInteger = bytes[at]! >= zero && bytes[at]! <= nine
  if (isShortInteger) return true
  const digits = bytes.toString('latin1', from, Math.min(end, from + longestDouble))
  return String(Number(digits)) === digits
}

/** Letters of the longest text that JavaScript writes for a number, and one more. */
const longestDouble = 26

/** Checks a whole text. @throws Failure as the meter. */
export function mustBeWithinBounds(text: string, bounds: JsonBounds = bodyBounds): void {
  createJsonMeter(bounds).add(Buffer.from(text))
}

const tooDeep = (deepest: number): Failure =>
  new Failure('MALFORMED_REQUEST', `The JSON is nested deeper than ${deepest} levels.`, { issue: 'too-costly' })

const tooBroad = (members: number): Failure => {
  const message = `An object of the JSON has more than ${members} members.`
  return new Failure('VALIDATION_FAILED', message, {
    issue: 'too-costly',
    details: [{ field: '', code: 'too-costly', message }],
  })
}

const tooMany = (most: number): Failure =>
  new Failure('PAYLOAD_TOO_LARGE', `The JSON contains more than ${most} values: split the request.`, {
    issue: 'too-costly',
  })
