// Records as they are sent: a field of which nothing is known is null, so that whoever reads them finds every field.

import type { TObject, TSchema } from 'typebox'

/** The record with every field of the shape; those it lacks are null, where the shape allows that. */
export function filled(shape: TObject, record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const all: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(shape.properties)) {
    const value = record[name]
    if (value !== undefined) all[name] = value
    else if (mayBeNull(schema)) all[name] = null
  }
  return all
}

function mayBeNull(schema: TSchema): boolean {
  const { anyOf } = schema as { anyOf?: readonly { type?: string }[] }
  return anyOf?.some(({ type }) => type === 'null') ?? false
}
