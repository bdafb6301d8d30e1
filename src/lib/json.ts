// JSON as FHIR requires it: a decimal keeps the digits it was written with (https://hl7.org/fhir/R4/datatypes.html#decimal).

import type { Piece } from './pieces.ts'

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

/** A number at a place of a text, and what follows it. */
const numberAt = /(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s,\]}]|$)/y

/**
 * Parses JSON; a number whose text a double would not give back becomes a raw number (JSON.rawJSON), which
 * JSON.stringify writes exactly as it was read.
 * @throws SyntaxError as JSON.parse does.
 */
export function parseJson(given: Piece): unknown {
  const text = String(given)
  const found = rawNumbers(text)
  if (found?.length === 0) return JSON.parse(text)
  return (found && parsedAround(text, found)) ?? revived(text)
}

/** Takes ten times as long as JSON.parse alone. */
const revived = (text: string): unknown =>
  json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && String(value) !== context.source
      ? json.rawJSON(context.source)
      : value,
  )

interface Digits {
  readonly at: number
  readonly digits: string
}

/** The numbers that JavaScript would write differently: many have 16 digits and are doubles all the same. Undefined: some are no JSON. */
function rawNumbers(text: string): Digits[] | undefined {
  const found: Digits[] = []
  /** Up to here, every string has ended. */
  let outside = 0
  fragile.lastIndex = 0
  while (fragile.test(text)) {
    const at = fragile.lastIndex
    outside = outsideStrings(text, outside, at)
    if (outside < 0) return undefined
    if (outside > at) {
      fragile.lastIndex = outside
      continue
    }
    numberAt.lastIndex = at
    const digits = numberAt.exec(text)?.[1]
    if (digits === undefined) return undefined
    if (String(Number(digits)) !== digits) found.push({ at, digits })
    fragile.lastIndex = at + digits.length
  }
  return found
}

/** Returns where the last string ends that begins before `at`: behind `at` if this is within it; -1: it does not end. */
function outsideStrings(text: string, from: number, at: number): number {
  let outside = from
  for (let quote = text.indexOf('"', outside); quote >= 0 && quote < at; quote = text.indexOf('"', outside)) {
    const end = stringEnd(text, quote)
    if (end < 0) return -1
    outside = end
    if (outside > at) break
  }
  return outside
}

function stringEnd(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end + 1
  }
  return -1
}

/** What stands before the place of a number while the rest is parsed: a control character, which texts hardly have, as it is or escaped. */
const mark = '\u0091'
const isMarked = (text: string): boolean => text.includes(mark) || text.includes('\\u0091')

/** Parses the text with marks in the place of the numbers, which then take theirs; undefined if it is no JSON, or has marks of its own. */
function parsedAround(text: string, numbers: readonly Digits[]): unknown {
  if (isMarked(text)) return undefined
  let marked = ''
  let from = 0
  for (const [index, { at, digits }] of numbers.entries()) {
    marked += `${text.slice(from, at)}"${mark}${index}"`
    from = at + digits.length
  }
  let root: unknown
  try {
    root = JSON.parse(`[${marked}${text.slice(from)}]`)
  } catch {
    return undefined
  }
  if ((root as unknown[]).length !== 1) return undefined
  unmark(root as unknown[], numbers)
  return (root as unknown[])[0]
}

/** Without recursion, since lists may be nested as deeply as the text is long. */
function unmark(root: object, numbers: readonly Digits[]): void {
  const open: Record<string, unknown>[] = [root as Record<string, unknown>]
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const key in node) {
      const value = node[key]
      if (typeof value === 'object' && value !== null) open.push(value as Record<string, unknown>)
      else if (typeof value === 'string' && value.startsWith(mark)) {
        const raw = json.rawJSON(numbers[Number(value.slice(mark.length))]!.digits)
        setMember(node, key, raw)
      }
    }
}

/** Sets a member of an object; a name like __proto__ is a name like any other in JSON. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

/** The objects around a text, from the outermost to the one that holds it, and the name of the member that each of them is, or is in a list of. */
export interface Around {
  readonly objects: readonly JsonObject[]
  readonly names: readonly string[]
}

/** Receives a text, the name of the member that it is, or is in a list of, and what is around it, which is valid during the call. */
type ReplaceText = (text: string, name: string, around: Around) => string

/**
 * Returns the object with its texts replaced: a copy of what holds one that changes, and the same object if none does. It descends as
 * deep as the object is nested.
 */
export const withTexts = (object: JsonObject, replace: ReplaceText): JsonObject =>
  valueWithTexts(object, replace, '', { objects: [], names: [] }) as JsonObject

interface Descent extends Around {
  readonly objects: JsonObject[]
  readonly names: string[]
}

function valueWithTexts(value: unknown, replace: ReplaceText, name: string, around: Descent): unknown {
  if (typeof value === 'string') return replace(value, name, around)
  if (Array.isArray(value)) {
    let items: unknown[] | undefined
    for (let index = 0; index < value.length; index++) {
      const next = valueWithTexts(value[index], replace, name, around)
      if (next !== value[index]) (items ??= [...value])[index] = next
    }
    return items ?? value
  }
  if (!isObject(value)) return value
  let copy: JsonObject | undefined
  around.objects.push(value)
  around.names.push(name)
  for (const key in value) {
    const next = valueWithTexts(value[key], replace, key, around)
    if (next !== value[key]) setMember((copy ??= { ...value }), key, next)
  }
  around.objects.pop()
  around.names.pop()
  return copy ?? value
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
