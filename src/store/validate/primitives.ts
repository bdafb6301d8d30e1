// The primitive types: which JSON value each is and what its text must look like (https://hl7.org/fhir/R4/datatypes.html).

import { typeModel } from '../../definitions/r4.ts'
import { isJsonNumber } from '../../lib/json.ts'
import { xhtmlProblem } from '../../lib/xhtml.ts'
import { quoted } from './issues.ts'

export interface Primitive {
  readonly json: 'string' | 'number' | 'boolean'
  /** What is wrong with a value, as the rest of a sentence that begins with the element's name. */
  readonly problem: (value: unknown) => string | undefined
}

/** True if a value is the JSON type of a primitive. */
export function isJsonType(value: unknown, json: Primitive['json']): boolean {
  return json === 'number' ? isJsonNumber(value) : typeof value === json
}

/** The primitive type of this name; undefined for complex types. */
export function primitive(name: string): Primitive | undefined {
  return Object.hasOwn(primitives, name) ? primitives[name] : undefined
}

const longestString = 1024 * 1024
const control = /[^\t\n\r -\uffff]/

const primitives: Record<string, Primitive> = {
  boolean: { json: 'boolean', problem: () => undefined },
  integer: integer(-(2 ** 31), 'an integer of 32 bits'),
  unsignedInt: integer(0, 'a whole number from 0 to 2147483647'),
  positiveInt: integer(1, 'a whole number from 1 to 2147483647'),
  decimal: { json: 'number', problem: () => undefined },
  string: text(value => (value.length > longestString ? 'is longer than 1 MB' : undefined)),
  markdown: text(() => undefined),
  xhtml: text(xhtmlProblem),
  code: pattern('code', 'a code: no leading or trailing spaces, and single spaces within'),
  id: pattern('id', 'an id: 1 to 64 letters, digits, dashes and dots'),
  uri: pattern('uri', 'a URI: it has spaces'),
  url: pattern('url', 'a URL: it has spaces'),
  canonical: pattern('canonical', 'a canonical URL: it has spaces'),
  oid: pattern('oid', 'an OID (urn:oid:1.2.3)'),
  uuid: pattern('uuid', 'a UUID (urn:uuid:…, lower case)'),
  time: pattern('time', 'a time (hh:mm:ss)'),
  date: pattern('date', 'a date (YYYY, YYYY-MM or YYYY-MM-DD)', dayProblem),
  dateTime: pattern(
    'dateTime',
    'a date and time (YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss+zz:zz)',
    dayProblem,
    zoneHint,
  ),
  instant: pattern('instant', 'an instant (YYYY-MM-DDThh:mm:ss.sss+zz:zz)', dayProblem, zoneHint),
  base64Binary: text(value => (isBase64(value) ? undefined : 'is not base64')),
}

function integer(lowest: number, described: string): Primitive {
  const fits = (value: unknown) => Number.isInteger(value) && (value as number) >= lowest && (value as number) < 2 ** 31
  return {
    json: 'number',
    problem: value => (fits(value) ? undefined : `is not ${described}: ${JSON.stringify(value)}`),
  }
}

function text(problem: (value: string) => string | undefined): Primitive {
  return { json: 'string', problem: value => textProblem(value as string) ?? problem(value as string) }
}

function pattern(
  type: string,
  described: string,
  more: (value: string) => string | undefined = () => undefined,
  hint: (value: string) => string | undefined = () => undefined,
): Primitive {
  const regex = new RegExp(typeModel(type)!.pattern!)
  return text(value => {
    if (regex.test(value)) return more(value)
    return hint(value) ?? `is not ${described}: ${quoted(value)}`
  })
}

// PostgreSQL's jsonb, like FHIR, has no place for NUL or half a surrogate pair.
function textProblem(value: string): string | undefined {
  if (isPlain(value)) return undefined
  if (value.length === 0) return 'is empty: omit it instead'
  if (control.test(value)) return 'has a control character'
  if (!/\S/.test(value)) return 'has nothing but white space'
  return value.isWellFormed() ? undefined : 'is not well-formed Unicode'
}

/** Longest text whose letters are looked at one by one. */
const short = 100

/** True for a short text of ASCII letters that are all visible, or spaces between such: most texts are. */
function isPlain(value: string): boolean {
  if (value.length === 0 || value.length > short || value.charCodeAt(0) === 0x20) return false
  for (let at = 0; at < value.length; at++) {
    const letter = value.charCodeAt(at)
    if (letter < 0x20 || letter > 0x7e) return false
  }
  return true
}

function dayProblem(value: string): string | undefined {
  if (value.length < 10 || value.charCodeAt(8) < 0x32 || (value.charCodeAt(8) === 0x32 && value.charCodeAt(9) < 0x39))
    return undefined
  const [year, month, day] = value.slice(0, 10).split('-').map(Number) as [number, number, number]
  return day <= daysIn(year, month) ? undefined : `is not a calendar date: ${quoted(value)}`
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function zoneHint(value: string): string | undefined {
  if (/T\d\d:\d\d:\d\d(\.\d+)?$/.test(value)) return `has a time but no time zone: ${quoted(value)}`
  return /T\d\d:\d\d(Z|[+-]\d\d:\d\d)?$/.test(value) ? `has a time without seconds: ${quoted(value)}` : undefined
}

// White space may stand anywhere; the pattern R4 gives takes exponential time on some texts.
function isBase64(value: string): boolean {
  const bare = /\s/.test(value) ? value.replace(/\s+/g, '') : value
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(bare)
}
