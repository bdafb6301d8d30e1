// Puts values into elements: single or repeating, primitive or complex, as list modes ask for.

import { digitsOf, isJsonNumber, isObject } from '../../lib/json.ts'
import type { Target, TargetListMode } from '../ast.ts'
import type { Json, Place, Run } from './frame.ts'
import { Refusal } from './map-error.ts'
import { newOrder } from './order.ts'

/** An element of the target, in its JSON form. */
export interface Slot {
  /** The JSON property. */
  readonly key: string
  /** Whether it repeats; undefined where the type is not known, so that the second value makes a list. */
  readonly isList: boolean | undefined
  /** For a choice: the properties of its other types, all of which must be absent. */
  readonly rivals?: ReadonlySet<string>
}

/** How the items of a repeating element are ordered or used again. https://hl7.org/fhir/R4/valueset-map-target-list-mode.html */
export interface Ordering {
  readonly mode: TargetListMode | undefined
  /** The name of what is shared. */
  readonly share: string | undefined
  /** Who orders: the same target of the same rule, whatever types its group is compiled for. */
  readonly target: Target
  /** The name of its rule, for messages. */
  readonly rule: string
}

/** Writes a primitive (with its `_key` part) or a finished complex value; returns the place of a primitive's item. */
export function put(run: Run, holder: Json, slot: Slot, value: unknown, sibling?: unknown): number {
  const { key, isList } = slot
  const held = holder[key]
  if (isList === true || (isList === undefined && held !== undefined)) {
    const list = Array.isArray(held) ? held : held === undefined ? [] : [held]
    if (list !== held) holder[key] = list
    const index = list.push(value) - 1
    if (sibling !== undefined) putSibling(holder, key, index, sibling)
    return index
  }
  if (held !== undefined && !isSame(held, value)) {
    if (!isHollow(held) || !isObject(value))
      throw new Refusal(`\`${key}\` can have one value only, and has one already`)
    fillHollow(held, value)
    return -1
  }
  if (slot.rivals) checkRivals(run, holder, slot, slot.rivals, value)
  holder[key] = value
  if (sibling !== undefined) holder[`_${key}`] = sibling
  return -1
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (isJsonNumber(one) && isJsonNumber(other) && digitsOf(one) === digitsOf(other))
}

/** True for an object that was made and that nothing was put into yet. */
function isHollow(value: unknown): value is Json {
  if (!isObject(value)) return false
  for (const key in value) {
    const each = value[key]
    const isEmpty = Array.isArray(each) ? each.every(isHollow) : each === undefined || isHollow(each)
    if (!isEmpty) return false
  }
  return true
}

/** What variables already name stays in place. */
function fillHollow(held: Json, value: Json): void {
  for (const key of Object.keys(value)) {
    const [inner, given] = [held[key], value[key]]
    if (isObject(inner) && isObject(given)) fillHollow(inner, given)
    else held[key] = Array.isArray(inner) && Array.isArray(given) ? [...inner, ...given] : given
  }
}

/** A choice has one type at a time. What is still empty may stay so, which is seen at the end. https://hl7.org/fhir/R4/formats.html#choice */
function checkRivals(run: Run, holder: Json, { key }: Slot, rivals: ReadonlySet<string>, value: unknown): void {
  for (const other in holder) {
    if (other === key || !rivals.has(other) || holder[other] === undefined) continue
    if (!isHollow(holder[other]) && !isHollow(value)) throw bothTypes(key, other)
    const { mark } = run
    run.doubts ??= []
    run.doubts.push({ holder, keys: [key, other], mark })
  }
}

function bothTypes(key: string, other: string): Refusal {
  return new Refusal(`\`${key}\` cannot be set together with \`${other}\`: an element has one of its types at a time`)
}

/** Refuses choices for which two types were filled in the end. */
export function settleDoubts(run: Run): void {
  for (const { holder, keys, mark } of run.doubts ?? []) {
    const [key, other] = keys
    if (isHollow(holder[key]) || isHollow(holder[other])) continue
    if (holder[key] === undefined || holder[other] === undefined) continue
    run.mark = mark
    throw bothTypes(key, other)
  }
}

function putSibling(holder: Json, key: string, index: number, sibling: unknown): void {
  const siblings = (holder[`_${key}`] ??= []) as unknown[]
  while (siblings.length < index) siblings.push(null)
  siblings[index] = sibling
}

/** Adds a primitive, or the place of one that is only an extension, and remembers where its list mode wants it. */
export function add(run: Run, holder: Json, slot: Slot, value: unknown, sibling: unknown, ordering: Ordering): number {
  if (value === undefined && slot.isList !== true) {
    holder[`_${slot.key}`] = sibling
    return -1
  }
  const index = put(run, holder, slot, value === undefined ? null : value, sibling)
  if (index >= 0) order(run, holder, slot.key, index, ordering)
  return index
}

function order(run: Run, holder: Json, key: string, index: number, { mode, target, rule }: Ordering): void {
  if (mode !== 'first' && mode !== 'last') return
  const list = holder[key] as unknown[]
  run.orders ??= new Map()
  let found = run.orders.get(list)
  if (!found) run.orders.set(list, (found = newOrder(holder, key)))
  const other = found[mode]
  if (other && other.target !== target)
    throw new Refusal(`rule ${JSON.stringify(other.rule)} is ${mode} in this list already`)
  found[mode] = { target, rule }
  found.ends.set(index, mode)
}

/** Gives a primitive that is being made its value. */
export function fill(run: Run, { holder, key, index }: Place, value: unknown, sibling?: unknown): void {
  if (index < 0) {
    if (value === null) holder[`_${key}`] = sibling
    else put(run, holder, { key, isList: false }, value, sibling)
    return
  }
  const list = holder[key] as unknown[]
  if (list[index] !== null && !isSame(list[index], value)) throw new Refusal(`\`${key}\` has a value already`)
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

/** Returns a new complex value in an element; the present one where the element does not repeat, or its list mode requires it. */
export function make(run: Run, holder: Json, slot: Slot, fresh: () => Json, ordering: Ordering): Json {
  const { mode, share } = ordering
  const held = holder[slot.key]
  if (slot.isList === false) {
    if (held !== undefined) return held as Json
  } else {
    const reuse = mode === 'collate' || mode === 'single'
    if (reuse && held !== undefined) return (Array.isArray(held) ? held[0] : held) as Json
    if (share !== undefined) return shared(run, holder, slot, fresh, ordering)
  }
  return makeNew(run, holder, slot, fresh, ordering)
}

function makeNew(run: Run, holder: Json, slot: Slot, fresh: () => Json, ordering: Ordering): Json {
  const item = fresh()
  const index = put(run, holder, slot, item)
  if (index >= 0 && ordering.mode !== undefined) order(run, holder, slot.key, index, ordering)
  return item
}

/** The n-th item of one rule is the n-th of every rule that shares it. */
function shared(run: Run, holder: Json, slot: Slot, fresh: () => Json, ordering: Ordering): Json {
  run.shares ??= new Map()
  let names = run.shares.get(holder)
  if (!names) run.shares.set(holder, (names = new Map()))
  const name = `${slot.key} ${ordering.share}`
  let share = names.get(name)
  if (!share) names.set(name, (share = { items: [], used: new Map() }))
  const used = share.used.get(ordering.target) ?? 0
  share.used.set(ordering.target, used + 1)
  if (used === share.items.length) share.items.push(makeNew(run, holder, slot, fresh, ordering))
  return share.items[used]!
}
