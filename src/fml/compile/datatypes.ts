// Transforms that make datatypes: `cc`, `c`, `qty`, `id` and `cp`. https://hl7.org/fhir/R4/valueset-map-transform.html

import { EMPTY, type Items, typed } from '../../fhirpath/node.ts'
import { jsonNumber } from '../../lib/json.ts'
import type { Frame, Json } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { ofText, simple, textIn } from './computed.ts'
import type { Value } from './value.ts'

/** An object of the parts that have a value; nothing where the part that matters has none. */
function object(
  type: string,
  needed: string,
  parts: Readonly<Record<string, Value | undefined>>,
  finished: (made: Json) => Json = made => made,
): Value {
  const keys = Object.keys(parts).filter(key => parts[key] !== undefined)
  const texts = keys.map(key => reading(parts[key]!))
  const run = (frame: Frame): Items => {
    const made: Json = {}
    for (let i = 0; i < keys.length; i++) {
      const text = texts[i]!(frame)
      if (text !== undefined) made[keys[i]!] = text
    }
    return made[needed] === undefined ? EMPTY : [typed(finished(made), type)]
  }
  return { ...simple(type, run), isFresh: true }
}

/** Reads the text of a part; a constant part is read once, now. */
function reading(value: Value): (frame: Frame) => string | undefined {
  if (value.constant?.type !== 'System.String') return frame => textIn(value, frame)
  const text = String(value.constant.value)
  return () => text
}

export function concept(args: readonly Value[]): Value {
  const [system, code, display] = args
  if (args.length === 1) return object('CodeableConcept', 'text', { text: system })
  return object('CodeableConcept', 'code', { system, code, display }, made => ({ coding: [made] }))
}

export function coding([system, code, display]: readonly Value[]): Value {
  return object('Coding', 'code', { system, code, display })
}

const IDENTIFIER_TYPES = 'http://terminology.hl7.org/CodeSystem/v2-0203'

export function identifier([system, value, type]: readonly Value[]): Value {
  return object('Identifier', 'value', { system, value, type }, ({ type: code, ...made }) =>
    code === undefined ? made : { type: { coding: [{ system: IDENTIFIER_TYPES, code }] }, ...made },
  )
}

export function contactPoint(args: readonly Value[]): Value {
  const [system, value] = args.length === 1 ? [undefined, args[0]] : args
  return object('ContactPoint', 'value', { system, value }, made => ({ system: systemOf(String(made.value)), ...made }))
}

/** Returns the system that the value's form implies; R4 requires one (cpt-2). */
function systemOf(value: string): string {
  if (/^(?:https?|ftp):/i.test(value)) return 'url'
  if (/^sms:/i.test(value)) return 'sms'
  if (/^(?:mailto:)?[^@\s]+@[^@\s]+$/i.test(value)) return 'email'
  return /^(?:tel:)?\+?[\d\s()./-]{3,}$/i.test(value) ? 'phone' : 'other'
}

const QUANTITY = /^\s*([<>]=?)?\s*(-?\d+(?:\.\d+)?)\s*(\S.*)?$/
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

/** `qty('12 mg')`, or its parts. */
export function quantity(args: readonly Value[]): Value {
  if (args.length === 1) return ofText('Quantity', args[0], quantityIn)
  const [value, unit, system, code] = args
  return object('Quantity', 'value', { value, unit, system, code }, made => ({
    ...made,
    value: number(`${made.value}`),
  }))
}

function number(text: string): unknown {
  if (!NUMBER.test(text)) throw new Refusal('the text is not a number')
  return jsonNumber(text)
}

function quantityIn(text: string): Json {
  const match = QUANTITY.exec(text)
  if (!match) throw new Refusal('the text is not a number with a unit')
  const [, comparator, value, unit] = match
  const made: Json = { value: number(value!) }
  if (comparator) made.comparator = comparator
  if (unit) made.unit = unit.trim()
  return made
}
