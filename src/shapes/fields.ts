// The kinds of fields that record shapes are made of: ids, texts, days, moments, and what may be null.

import { type TSchema, Type } from '../lib/schema.ts'

/** An id of FHIR: a UUID where this service assigned it, and anything that FHIR allows where a client did. */
export function id(description: string) {
  return Type.String({ pattern: '^[A-Za-z0-9.-]{1,64}$', description })
}

/** Text as a person wrote it; never empty. */
export function text(description: string) {
  return Type.String({ minLength: 1, description })
}

/** A calendar day: `2026-03-14`. */
export function day(description: string) {
  return Type.String({ format: 'date', description })
}

/** A moment with its time zone: `2026-03-14T09:30:00+01:00`. */
export function moment(description: string) {
  return Type.String({ format: 'date-time', description })
}

/** One of a list of codes. */
export function code<const Codes extends string[]>(codes: readonly [...Codes], description: string) {
  return Type.Enum([...codes], { description })
}

/** An amount of money, as decimal digits: never a binary fraction. */
export function money(description: string) {
  return Type.String({ pattern: '^-?\\d{1,15}(\\.\\d{1,4})?$', description })
}

/** A field that may be left out or be null; both say that nothing is known. */
export function nullable<Schema extends TSchema & { description?: string }>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()], { description: schema.description }))
}
