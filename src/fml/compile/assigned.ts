// Targets with a value: an element is set; each of several values becomes an item of its own.

import type { Typed } from '../../fhirpath/compile.ts'
import type { Target } from '../ast.ts'
import { cloneSibling } from '../run/finish.ts'
import type { Action, Frame, Json } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { add, type Ordering, put } from '../run/write.ts'
import { type Land, landedType, landing } from './assign.ts'
import { defaultGroups, throughGroups } from './default-groups.ts'
import type { Element } from './element.ts'
import { orderingOf } from './made.ts'
import type { Owner } from './owner.ts'
import { codesOf } from './read.ts'
import { newMade, nextSlot, type Scope, type TargetCode, type Variable, withVariable } from './scope.ts'
import type { Value } from './value.ts'

/** The name of the value in a rule that is no more than a copy; no name that can be written in a map. */
export const COPIED = ' copied'

/** Sets an element to a value; undefined, and reported, where it cannot be set to it. */
export function assigned(
  target: Target,
  owner: Owner,
  element: Element,
  value: Value,
  scope: Scope,
): TargetCode | undefined {
  const span = spanOfValue(target)
  const valueSet = value.constant && element.model?.requiredValueSet
  const codes = valueSet && scope.build.see ? codesOf(scope, valueSet) : undefined
  if (codes) scope.build.see?.({ kind: 'codes', span, codes })
  const groups = target.variable ? undefined : groupsFor(target, element, value, scope)
  if (groups?.size) return { action: throughGroups(value, element, groups, owner, span, scope), scope }
  const land = landing(value, element, span, scope, owner.made)
  if (!land) return undefined
  const ordering = orderingOf(target, scope)
  if (!target.variable) return { action: setting(owner, element, value, land, ordering), scope }
  const kept = keptVariable(element, value, scope)
  const action = keeping(owner, element, value, land, ordering, kept)
  return { action, scope: withVariable(scope, target.variable.text, kept) }
}

/** A copy uses default groups: always where the rule has nothing else, otherwise where the types differ. */
function groupsFor(target: Target, element: Element, value: Value, scope: Scope) {
  const { transform } = target
  const { types } = value
  if (transform?.kind !== 'path' || !types || !element.types) return undefined
  const isExplicit = transform.names[0]!.text !== COPIED
  if (isExplicit && types.some(type => element.types!.includes(type))) return undefined
  return defaultGroups(value, element, scope)
}

function setting(owner: Owner, element: Element, value: Value, land: Land, ordering: Ordering): Action {
  const isList = element.isList === true
  const { constant } = value
  if (constant && constant.value !== '' && ordering.mode === undefined && land(constant).isPrimitive) {
    const { slot, convert } = land(constant)
    const result = convert(constant.value)
    return frame => void put(frame.shared, owner.at(frame), slot, result)
  }
  return frame => {
    const items = value.run(frame)
    if (items.length === 0) return
    if (items.length > 1 && !isList) throw several(items.length, element)
    const holder = owner.at(frame)
    for (let i = 0; i < items.length; i++) setOne(frame, holder, items[i]!, land, ordering)
  }
}

/** Returns the index of the item in its list, -1 outside of lists; undefined if nothing was set. */
function setOne(
  { shared }: Frame,
  holder: Json,
  item: Typed,
  land: Land,
  ordering: Ordering,
): { index: number; key: string; result: unknown } | undefined {
  const { slot, convert, isPrimitive, isFhir } = land(item)
  const result = item.value === undefined ? undefined : convert(item.value)
  if (result === '' && isFhir) return undefined
  const sibling = isPrimitive && item.sibling !== undefined ? cloneSibling(item.sibling) : undefined
  if (result === undefined && sibling === undefined) return undefined
  const isPlain = ordering.mode === undefined && result !== undefined
  const index = isPlain
    ? put(shared, holder, slot, result, sibling)
    : add(shared, holder, slot, result, sibling, ordering)
  return { index, key: slot.key, result }
}

/** Sets the element, and a variable to what it was set to. */
function keeping(
  owner: Owner,
  element: Element,
  value: Value,
  land: Land,
  ordering: Ordering,
  kept: Variable & { slot: number },
): Action {
  const { slot, kind } = kept
  return frame => {
    const items = value.run(frame)
    frame.vars[slot] = kind === 'source' ? items : undefined
    if (items.length === 0) return
    if (items.length > 1 && element.isList !== true) throw several(items.length, element)
    const holder = owner.at(frame)
    for (const item of items) {
      const done = setOne(frame, holder, item, land, ordering)
      if (done && kind === 'place') frame.vars[slot] = { holder, key: done.key, index: done.index }
      else if (done && kind === 'target') frame.vars[slot] = done.result
    }
  }
}

function several(count: number, element: Element): Refusal {
  return new Refusal(`${element.shown} can have one value only, and the source has ${count}; \`first\` takes the first`)
}

/** The variable of `tgt.element = value as x`. */
function keptVariable(element: Element, value: Value, scope: Scope): Variable & { slot: number } {
  const { system } = scope.build
  const slot = nextSlot(scope)
  const type = landedType(value, element, scope)
  if (type === undefined || system.isOpen(type)) return { kind: 'source', slot, types: undefined, isGrowing: true }
  if (system.isPrimitive(type)) return { kind: 'place', slot, type, valueSet: element.model?.requiredValueSet }
  const made = newMade()
  made.elements.add('*')
  return { kind: 'target', slot, type, made }
}

function spanOfValue({ transform, span }: Target): Target['span'] {
  return transform && transform.span.length > 0 ? transform.span : span
}
