// Records as they are sent: every field is there, null where nothing is known, and every moment is in UTC.

import type { Static, TObject, TSchema } from 'typebox'
import { endOfYears } from '../lib/day.ts'

type Fixed<Value> = Value extends (infer Item)[] ? readonly Item[] : Value

/** A record of a shape with every field there. */
export type Filled<Shape extends TObject> = {
  readonly [Field in keyof Static<Shape>]-?: Fixed<Exclude<Static<Shape>[Field], undefined>>
}

/**
 * The record with every field of the shape. A field that it lacks is null, where the shape allows that; moments are given
 * in UTC with the precision they have.
 */
export function filled<Shape extends TObject>(shape: Shape, record: Readonly<Record<string, unknown>>): Filled<Shape> {
  const all: Record<string, unknown> = {}
  for (const { name, isMoment, mayBeNull } of fieldsOf(shape)) {
    const value = record[name]
    if (value !== undefined) all[name] = isMoment && typeof value === 'string' ? inUtc(value) : value
    else if (mayBeNull) all[name] = null
  }
  return all as Filled<Shape>
}

interface Field {
  readonly name: string
  readonly isMoment: boolean
  readonly mayBeNull: boolean
}

const known = new WeakMap<TObject, readonly Field[]>()

function fieldsOf(shape: TObject): readonly Field[] {
  let fields = known.get(shape)
  if (!fields) {
    fields = Object.entries(shape.properties).map(([name, schema]) => ({
      name,
      isMoment: alternatives(schema).some(({ format }) => format === 'date-time'),
      mayBeNull: alternatives(schema).some(({ type }) => type === 'null'),
    }))
    known.set(shape, fields)
  }
  return fields
}

interface Alternative {
  readonly type?: string
  readonly format?: string
}

const alternatives = (schema: TSchema): readonly Alternative[] =>
  (schema as { anyOf?: readonly Alternative[] }).anyOf ?? [schema as Alternative]

/** `2026-03-14T09:30:00+01:00` is `2026-03-14T08:30:00Z`; anything else stays as it is. */
function inUtc(moment: string): string {
  if (moment.endsWith('Z')) return moment
  const [, seconds, fraction = '', offset] = /^(.{19})(\.\d+)?([+-]\d\d:\d\d)$/.exec(moment) ?? []
  if (offset === undefined) return moment
  if (offset === '+00:00') return `${seconds}${fraction}Z`
  const time = Date.parse(`${seconds}${offset}`)
  return time < endOfYears ? `${new Date(time).toISOString().slice(0, 19)}${fraction}Z` : moment
}
