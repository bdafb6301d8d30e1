// What the service requires of its maps by name, so that it refuses a set that lacks one, or turns it into something else.

import type { Problem } from '../fml/problem.ts'
import { NOWHERE } from '../fml/problem.ts'
import { nearest } from '../lib/nearest.ts'
import type { Mapping } from './mapping.ts'

/** A map that is used by name, and the types that its user gives and expects. */
export interface Need {
  /** `allergy-to-fhir` */
  readonly map: string
  /** `AllergyRecord` */
  readonly from: string
  /** `AllergyIntolerance` */
  readonly to: string
}

/** Returns the needs that these maps do not meet, each once, except for maps that have problems of their own. */
export function unmet(needs: readonly Need[], mappings: ReadonlyMap<string, Mapping>): Problem[] {
  const different = new Map(needs.map(need => [`${need.map} ${need.from} ${need.to}`, need]))
  return [...different.values()].flatMap(need => {
    const message = fault(need, mappings)
    const source = mappings.get(need.map)?.source
    return message === undefined ? [] : [{ message, span: NOWHERE, file: source?.path ?? `${need.map}.fml` }]
  })
}

function fault({ map, from, to }: Need, mappings: ReadonlyMap<string, Mapping>): string | undefined {
  const found = mappings.get(map)
  if (!found) {
    const meant = nearest(map, [...mappings.keys()])
    return `this map is missing; the service needs it for ${from}${meant ? `; was it renamed to ${meant}.fml?` : ''}`
  }
  if (!found.program) return undefined
  const { sources, targets } = found.program
  if (sources[0]?.type === from && targets[0]?.type === to) return undefined
  const is = `${sources[0]?.type ?? 'anything'} to ${targets[0]?.type ?? 'anything'}`
  return `this map converts ${is}; the service needs one from ${from} to ${to}`
}
