// Puts values into elements: single or repeating, primitive or complex, in the order that list modes ask for.

import type { TargetListMode } from '../ast.ts'
import type { Frame, Json, Place, Run } from './frame.ts'
import { Refusal, type Site } from './map-error.ts'

/** An element of what is being made, as it stands in JSON. */
export interface Slot {
  /** The JSON property. */
  readonly key: string
  /** Whether it repeats; undefined where the type is not known, so that the second value makes a list. */
  readonly isList: boolean | undefined
}

/** Puts a primitive (its `_key` part beside it) or a finished complex value; gives its place. */
export function put(holder: Json, { key, isList }: Slot, value: unknown, sibling?: unknown): Place {
  const held = holder[key]
  if (isList === true || (isList === undefined && held !== undefined)) {
    const list = Array.isArray(held) ? held : held === undefined ? [] : [held]
    holder[key] = list
    const index = list.push(value) - 1
    if (sibling !== undefined) putSibling(holder, key, index, sibling)
    return { holder, key, index }
  }
  if (held !== undefined && held !== value) throw new Refusal(`\`${key}\` can have one value only, and has one already`)
  holder[key] = value
  if (sibling !== undefined) holder[`_${key}`] = sibling
  return { holder, key, index: -1 }
}

function putSibling(holder: Json, key: string, index: number, sibling: unknown): void {
  const siblings = (holder[`_${key}`] ??= []) as unknown[]
  while (siblings.length < index) siblings.push(null)
  siblings[index] = sibling
}

/** Gives a primitive that is being made its value. */
export function fill({ holder, key, index }: Place, value: unknown, sibling?: unknown): void {
  if (index < 0) {
    put(holder, { key, isList: false }, value, sibling)
    return
  }
  const list = holder[key] as unknown[]
  if (list[index] !== null && list[index] !== value) throw new Refusal(`\`${key}\` has a value already`)
  list[index] = value
  if (sibling !== undefined) putSibling(holder, key, index, sibling)
}

/** The object in which the id and the extensions of a primitive stand. */
export function besidePrimitive({ holder, key, index }: Place): Json {
  if (index < 0) return (holder[`_${key}`] ??= {}) as Json
  const siblings = (holder[`_${key}`] as unknown[] | undefined) ?? []
  if (!siblings[index]) putSibling(holder, key, index, {})
  return (holder[`_${key}`] as Json[])[index]!
}

/** How the items of a repeating element are ordered or used again. https://hl7.org/fhir/R4/valueset-map-target-list-mode.html */
export interface Ordering {
  readonly mode: TargetListMode | undefined
  /** The name of what is shared. */
  readonly share: string | undefined
  readonly site: Site
}

/** A new complex value in an element; the present one where the element does not repeat. */
export function make(frame: Frame, holder: Json, slot: Slot, fresh: () => Json, { mode, share, site }: Ordering): Json {
  const held = holder[slot.key]
  if (slot.isList !== true) {
    if (held === undefined) return (holder[slot.key] = fresh()) as Json
    if (slot.isList === false) return held as Json
    const item = fresh()
    put(holder, slot, item)
    return item
  }
  const list = (holder[slot.key] ??= []) as unknown[]
  if ((mode === 'collate' || mode === 'single') && list.length > 0) return list[0] as Json
  if (share !== undefined) return shared(frame.shared, holder, list, `${slot.key} ${share}`, fresh, site)
  const item = fresh()
  arrange(frame.shared, list, item, mode, site)
  return item
}

/** Adds an item where its list mode wants it. */
export function arrange(run: Run, list: unknown[], item: unknown, mode: TargetListMode | undefined, site: Site): void {
  if (mode !== 'first') list.push(item)
  else {
    const other = run.firsts.get(list)
    if (other && other !== site) throw new Refusal(`rule ${JSON.stringify(other.rule)} is first in this list already`)
    run.firsts.set(list, site)
    list.unshift(item)
  }
  if (mode === 'last') run.lasts.push([list, item])
}

/** The n-th item of one rule is the n-th of every rule that shares it. */
function shared(run: Run, holder: Json, list: unknown[], name: string, fresh: () => Json, site: Site): Json {
  let names = run.shares.get(holder)
  if (!names) run.shares.set(holder, (names = new Map()))
  let share = names.get(name)
  if (!share) names.set(name, (share = { items: [], used: new Map() }))
  const used = share.used.get(site) ?? 0
  share.used.set(site, used + 1)
  if (used === share.items.length) {
    const item = fresh()
    list.push(item)
    share.items.push(item)
  }
  return share.items[used]!
}
