// Lists whose rules state which items come first and which last. https://hl7.org/fhir/R4/valueset-map-target-list-mode.html

import type { JsonObject } from '../../lib/json.ts'
import type { Target } from '../ast.ts'

/** A list to sort once the result is complete: until then items keep their places, so that they can be filled. */
export interface Order {
  readonly holder: JsonObject
  readonly key: string
  /** The one target of one rule that has the first, and the last, places. */
  first?: { readonly target: Target; readonly rule: string }
  last?: { readonly target: Target; readonly rule: string }
  /** By place in the list. */
  readonly ends: Map<number, 'first' | 'last'>
}

export function newOrder(holder: JsonObject, key: string): Order {
  return { holder, key, ends: new Map() }
}

/** Puts the items of a list, and the extensions of its primitives, in their order. */
export function arrange({ holder, key, ends }: Order): void {
  const list = holder[key] as unknown[]
  const siblings = holder[`_${key}`] as unknown[] | undefined
  const places = [...list.keys()]
  const at = (end: 'first' | 'last' | undefined) => places.filter(place => ends.get(place) === end)
  const ordered = [...at('first'), ...at(undefined), ...at('last')]
  holder[key] = ordered.map(place => list[place])
  if (siblings) holder[`_${key}`] = ordered.map(place => siblings[place] ?? null)
}
