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
  add(bytes: Uint8Array): void
  /** Values so far; never less than there are. */
  values(): number
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
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
  let isEscaped = false
  return {
    values: () => values,
    add(bytes) {
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]!
        if (isText) {
          if (isEscaped) isEscaped = false
          else if (byte === backslash) isEscaped = true
          else if (byte === quote) isText = false
        } else if (byte === quote) isText = true
        else if (byte === comma) {
          values++
          if (++commas[depth]! >= members) throw tooBroad(members)
        } else if ((byte & ~braceBit) === opening) {
          values++
          if (++depth > deepest) throw tooDeep(deepest)
          commas[depth] = byte & braceBit ? 0 : Number.NEGATIVE_INFINITY
        } else if ((byte & ~braceBit) === closing) depth--
      }
      if (values > most) throw tooMany(most)
    },
  }
}

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
