// Conversion of primitive values to other types, where nothing is lost. https://hl7.org/fhir/R4/datatypes.html#primitive

import { Decimal } from '../../fhirpath/decimal.ts'
import { Quantity } from '../../fhirpath/quantity.ts'
import { parseTemporal } from '../../fhirpath/temporal.ts'
import { systemType, type TypeSystem } from '../../fhirpath/types.ts'
import { digitsOf, isJsonNumber, isObject, jsonNumber } from '../../lib/json.ts'
import { clone } from './finish.ts'
import { badForm, formOf, noObject } from './form.ts'
import { Refusal } from './map-error.ts'

/** A value as another type has it, in JSON; throws a Refusal where it cannot be that. */
export type Convert = (value: unknown) => unknown

const WHOLE: Readonly<Record<string, readonly [least: number, what: string]>> = {
  integer: [-(2 ** 31), 'a whole number of 32 bits'],
  unsignedInt: [0, 'a whole number from 0 to 2147483647'],
  positiveInt: [1, 'a whole number from 1 to 2147483647'],
}

/**
 * How values of type `from` become values of type `to`; undefined where there is no such way. `lossy` is what an
 * explicit `cast` allows: the day of a dateTime.
 */
export function converter(system: TypeSystem, from: string, to: string, lossy = false): Convert | undefined {
  if (from === to) return system.isPrimitive(to) ? formed(to) : from === '' ? anything : copied
  if (!system.isPrimitive(to)) return complexConverter(system, from, to)
  const kind = systemType(from)
  if (!kind || kind === 'System.Quantity' || kind === 'System.Any') return undefined
  if (Object.hasOwn(WHOLE, to)) return kind === 'System.Boolean' ? undefined : wholeConverter(to)
  if (to === 'decimal') return kind === 'System.Boolean' ? undefined : decimalConverter
  if (to === 'boolean')
    return kind === 'System.Boolean' ? formed(to) : kind === 'System.String' ? truthConverter : undefined
  return textConverter(system, kind, from, to, lossy)
}

function complexConverter(system: TypeSystem, from: string, to: string): Convert | undefined {
  if (from === 'System.Quantity' && system.isSubtype(to, 'Quantity')) return quantity
  if (system.isSubtype(from, to)) return copied
  if (from === 'Coding' && to === 'CodeableConcept') return value => ({ coding: [copied(value)] })
  return undefined
}

/** A value whose type is not known. */
function anything(value: unknown): unknown {
  if (value instanceof Quantity) return quantity(value)
  return value instanceof Decimal ? jsonNumber(value.toString()) : clone(value)
}

function copied(value: unknown): unknown {
  if (!isObject(value)) throw noObject(value)
  return clone(value)
}

function quantity(value: unknown): unknown {
  return value instanceof Quantity ? { ...value.toJSON(), value: jsonNumber(value.value.toString()) } : copied(value)
}

/** JSON as it stands, if it has the form of its type; numbers that an expression made keep their digits. */
function formed(type: string): Convert {
  const hasForm = formOf(type)
  return value => {
    if (hasForm(value)) return value
    if (value instanceof Decimal) return jsonNumber(value.toString())
    throw badForm(value, type)
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

function decimalConverter(value: unknown): unknown {
  const text = textOf(value)
  if (!NUMBER.test(text)) throw new Refusal('the text is not a number')
  return isJsonNumber(value) ? value : jsonNumber(text)
}

function wholeConverter(to: string): Convert {
  const [least, what] = WHOLE[to]!
  return value => {
    const text = textOf(value)
    const number = NUMBER.test(text) ? Number(text) : Number.NaN
    if (!Number.isInteger(number) || number < least || number > 2 ** 31 - 1) throw new Refusal(`this is not ${what}`)
    return number
  }
}

function truthConverter(value: unknown): unknown {
  if (value !== 'true' && value !== 'false') throw new Refusal('the text is neither `true` nor `false`')
  return value === 'true'
}

const FREE = new Set(['string', 'markdown', 'base64Binary', 'xhtml'])
const TIMES = new Set(['date', 'dateTime', 'instant', 'time'])
const NAMED: Readonly<Record<string, string>> = {
  date: 'a date (YYYY, YYYY-MM or YYYY-MM-DD)',
  dateTime: 'a dateTime (YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with a time zone)',
  instant: 'an instant (YYYY-MM-DDThh:mm:ss with a time zone)',
  time: 'a time of day (hh:mm:ss)',
}

function textConverter(
  system: TypeSystem,
  kind: string,
  from: string,
  to: string,
  lossy: boolean,
): Convert | undefined {
  if (TIMES.has(to) && !isTimely(kind, to)) return undefined
  if (FREE.has(to)) return textOf
  if (isNarrower(system, from, to)) return formed(to)
  const pattern = new RegExp(system.model.typeModel(to)?.pattern ?? '')
  const message = `this is not ${NAMED[to] ?? `of the form of ${to === 'id' || to === 'oid' ? 'an' : 'a'} ${to}`}`
  const loses = kind === 'System.DateTime' && to === 'date'
  return value => {
    const text = textOf(value)
    if (loses && text.length > 10) {
      if (lossy) return text.slice(0, 10)
      throw new Refusal("a date has no time of day; remove it with `cast(…, 'date')`")
    }
    if (!pattern.test(text) || !exists(text, to)) throw new Refusal(message)
    return text
  }
}

/** False for the 30th of February: the pattern of the type lets it through. */
function exists(text: string, type: string): boolean {
  if (!TIMES.has(type) || type === 'time' || text.length < 10 || text.slice(8, 10) <= '28') return true
  return parseTemporal(text.slice(0, 10), 'date') !== undefined
}

function isTimely(kind: string, to: string): boolean {
  if (kind === 'System.String') return true
  return to === 'time' ? kind === 'System.Time' : kind === 'System.Date' || kind === 'System.DateTime'
}

/** Every value of the one type is one of the other: `code` and `string`, `date` and `dateTime`, `id` and `code`. */
function isNarrower(system: TypeSystem, from: string, to: string): boolean {
  return system.isSubtype(from, to) || (to === 'dateTime' && (from === 'date' || from === 'instant'))
}

/** A primitive value as text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Decimal) return value.toString()
  if (isJsonNumber(value)) return digitsOf(value)
  if (typeof value === 'object') throw badForm(value, 'string')
  return String(value)
}
