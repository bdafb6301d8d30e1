// JSON as FHIR requires it: a decimal keeps the digits it was written with (https://hl7.org/fhir/R4/datatypes.html#decimal).

interface RawJSON {
  readonly rawJSON: string
}

interface JsonWithSource {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): RawJSON
  isRawJSON(value: unknown): value is RawJSON
}

const json = JSON as unknown as JsonWithSource

// Where a number begins that JavaScript may write differently: trailing zero after the point, an exponent, one so small that
// JavaScript gives it an exponent, more digits than any double holds, or minus zero.
const fragile =
  /(?:^|[:[,])\s*(?=-?(?:\d+\.\d*0\s*(?:[,\]}]|$)|\d+(?:\.\d+)?[eE]|0\.0{6}|(?:\d\.?){16,})|-0\s*(?:[,\]}]|$))/g

/** A number at a place of a text. */
const numberAt = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Parses JSON; a number whose text a double would not give back becomes a raw number (JSON.rawJSON), which
 * JSON.stringify writes exactly as it was read.
 * @throws SyntaxError as JSON.parse does.
 */
export function parseJson(text: string): unknown {
  if (isWrittenAgain(text)) return JSON.parse(text)
  return json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && String(value) !== context.source
      ? json.rawJSON(context.source)
      : value,
  )
}

/** True if JavaScript writes every number as it is: many have 16 digits and are doubles all the same. A reviver takes ten times as long. */
function isWrittenAgain(text: string): boolean {
  fragile.lastIndex = 0
  while (fragile.test(text)) {
    numberAt.lastIndex = fragile.lastIndex
    const [digits] = numberAt.exec(text)!
    if (String(Number(digits)) !== digits) return false
    fragile.lastIndex = numberAt.lastIndex
  }
  return true
}

/** Returns the number with these digits: a raw number where JavaScript would write it differently. */
export function jsonNumber(digits: string): number | RawJSON {
  const number = Number(digits)
  return String(number) === digits ? number : json.rawJSON(digits)
}

/** True for a JavaScript number and for a raw number made by parseJson. */
export function isJsonNumber(value: unknown): value is number | RawJSON {
  return typeof value === 'number' ? Number.isFinite(value) : json.isRawJSON(value)
}

/** The numeric value of either kind of JSON number. */
export function numberOf(value: number | RawJSON): number {
  return typeof value === 'number' ? value : Number(value.rawJSON)
}

/** The digits of either kind of JSON number, as they were written. */
export function digitsOf(value: number | RawJSON): string {
  return typeof value === 'number' ? String(value) : value.rawJSON
}

export type JsonObject = { [key: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value)
}

/** The objects of a list; none of what is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
