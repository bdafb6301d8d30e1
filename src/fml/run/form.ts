// The JSON form of values: what a type is written as, and the error for data that is written otherwise.
// https://hl7.org/fhir/R4/json.html

import { isJsonNumber, isObject } from '../../lib/json.ts'
import { Refusal } from './map-error.ts'

/** True if a value has the JSON form of a type. */
export type HasForm = (value: unknown) => boolean

const FORMS: ReadonlyMap<string, readonly [form: HasForm, what: string]> = new Map([
  ['boolean', [value => typeof value === 'boolean', 'a boolean']],
  ['integer', [Number.isInteger, 'an integer']],
  ['positiveInt', [Number.isInteger, 'an integer']],
  ['unsignedInt', [Number.isInteger, 'an integer']],
  ['decimal', [isJsonNumber, 'a number']],
])

const isText: HasForm = value => typeof value === 'string'

/** The form of a primitive type. */
export function formOf(type: string): HasForm {
  return FORMS.get(type)?.[0] ?? isText
}

/** The error for a primitive that is written as something else. */
export function badForm(value: unknown, type: string, path?: string): Refusal {
  return new Refusal(`${FORMS.get(type)?.[1] ?? 'a string'} is expected here, not ${kindOf(value)}`, path)
}

/** The error for something that is no object where one should be. */
export function noObject(value: unknown, path?: string): Refusal {
  return new Refusal(`an object is expected here, not ${kindOf(value)}`, path)
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  return typeof value === 'string' ? 'a text' : typeof value === 'boolean' ? 'a boolean' : 'a number'
}
