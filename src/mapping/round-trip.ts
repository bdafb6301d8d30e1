// What a record loses on its way through a map and its inverse: `allergy-to-fhir` and `allergy-from-fhir`.

import { readMessage } from '../hl7v2/read.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { differences } from './difference.ts'
import type { Example } from './examples.ts'
import type { Mapping } from './mapping.ts'
import { attempt, isSegments } from './trial.ts'

export interface RoundTrip {
  /** The map that begins it. */
  readonly there: string
  readonly back: string
  /** How many examples were taken there and back. */
  readonly examples: number
  /** What is lost, by the number of examples that lose it; places in lists are left out. Fields of messages are named `OBX-5`. */
  readonly lost: ReadonlyMap<string, number>
  readonly changed: ReadonlyMap<string, number>
  /** What is added on the way. */
  readonly added: ReadonlyMap<string, number>
  /** Why some examples failed on the way back. */
  readonly errors: readonly string[]
}

/** Returns the name of the inverse map. */
export function opposite(name: string): string | undefined {
  const [, what, way, other] = /^(.+)-(to|from)-(.+)$/.exec(name) ?? []
  return what && `${what}-${way === 'to' ? 'from' : 'to'}-${other}`
}

/**
 * Takes the examples of a map through it and back. Those that fail in the first map are not counted; a map that has a second source
 * receives `spare` where the example has none.
 */
export function roundTrip(
  there: Mapping,
  back: Mapping,
  examples: readonly Example[],
  spare: JsonObject | undefined,
): RoundTrip {
  const trip = { lost: new Map<string, number>(), changed: new Map<string, number>(), added: new Map<string, number>() }
  const errors: string[] = []
  let taken = 0
  for (const { name, from, context } of examples) {
    const { made } = attempt(there.program!, from, context)
    if (!made) continue
    taken++
    const { made: returned, error } = attempt(back.program!, made, context ?? spare)
    if (error) errors.push(`${name}: ${error.message}`)
    else note(trip, comparable(from), comparable(returned!))
  }
  return { there: there.name, back: back.name, examples: taken, ...trip, errors }
}

type Counts = Record<'lost' | 'changed' | 'added', Map<string, number>>

/** A message as its fields by segment; anything else without nulls, which are equivalent to absent values. */
function comparable(value: Example['from']): unknown {
  return isSegments(value) ? fieldsOf(value) : withoutNulls(value)
}

/** The sender makes the header, except for the type of the message. */
function fieldsOf(message: readonly string[]): Record<string, Record<string, string>[]> {
  const found: Record<string, Record<string, string>[]> = {}
  for (const { id, fields } of readMessage(message.join('\r')).segments) {
    const filled = fields.flatMap((text, number): [string, string][] =>
      number === 0 || text === '' || (id === 'MSH' && number !== 9) ? [] : [[`-${number}`, text]],
    )
    ;(found[id] ??= []).push(Object.fromEntries(filled))
  }
  return found
}

function note(counts: Counts, from: unknown, returned: unknown): void {
  const seen = new Set<string>()
  for (const { path, expected, got } of differences(from, returned)) {
    const kind = got === undefined ? 'lost' : expected === undefined ? 'added' : 'changed'
    const place = path.replace(/\[\d+\]/g, '').replace('.-', '-')
    if (seen.has(`${kind} ${place}`)) continue
    seen.add(`${kind} ${place}`)
    counts[kind].set(place, (counts[kind].get(place) ?? 0) + 1)
  }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)]))
}
