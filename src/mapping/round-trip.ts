// What a record loses on its way through a map and its inverse: `allergy-to-fhir` and `allergy-from-fhir`.

import { isObject, type JsonObject } from '../lib/json.ts'
import { differences } from './difference.ts'
import type { Example } from './examples.ts'
import type { Mapping } from './mapping.ts'
import { attempt } from './trial.ts'

export interface RoundTrip {
  /** The map that begins it. */
  readonly there: string
  readonly back: string
  /** How many examples were taken there and back. */
  readonly examples: number
  /** What is lost, by the number of examples that lose it; places in lists are left out. */
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
    else note(trip, withoutNulls(from), returned)
  }
  return { there: there.name, back: back.name, examples: taken, ...trip, errors }
}

type Counts = Record<'lost' | 'changed' | 'added', Map<string, number>>

function note(counts: Counts, from: unknown, returned: unknown): void {
  const seen = new Set<string>()
  for (const { path, expected, got } of differences(from, returned)) {
    const kind = got === undefined ? 'lost' : expected === undefined ? 'added' : 'changed'
    const place = path.replace(/\[\d+\]/g, '')
    if (seen.has(`${kind} ${place}`)) continue
    seen.add(`${kind} ${place}`)
    counts[kind].set(place, (counts[kind].get(place) ?? 0) + 1)
  }
}

/** Null and an absent value are equivalent. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)]))
}
