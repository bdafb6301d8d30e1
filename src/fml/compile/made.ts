// Targets without a value: they create a value in an element, or a place for a primitive.

import type { Target } from '../ast.ts'
import type { Action, Json, Place } from '../run/frame.ts'
import { make, type Ordering, put } from '../run/write.ts'
import { noteChoice } from './assign.ts'
import { freshOf } from './create.ts'
import { type Element, keyed } from './element.ts'
import type { Owner } from './owner.ts'
import {
  newMade,
  nextSlot,
  noteCreation,
  report,
  type Scope,
  type TargetCode,
  type Variable,
  withVariable,
} from './scope.ts'

/** The type of what `tgt.element as x` makes; undefined where its structure is not known, false where it was reported. */
export function elementType({ path, variable }: Target, element: Element, scope: Scope): string | undefined | false {
  if (!element.types) return undefined
  const { isOpen } = scope.build.system
  const [type] = element.types
  if (element.types.length === 1 && type !== undefined && !isOpen(type)) return type
  const example = element.types.find(each => !isOpen(each)) ?? 'Observation'
  const way = `= create('${example}')${variable ? ` as ${variable.text}` : ''}`
  report(scope, path!.span, `${element.shown} can be of several types: write \`${way}\``)
  return false
}

/** Makes something in an element, or a place for a primitive. */
export function made(
  target: Target,
  owner: Owner,
  element: Element,
  type: string | undefined,
  scope: Scope,
): TargetCode {
  const slot = nextSlot(scope)
  const name = target.variable?.text
  const into = type === undefined ? element : keyed(element, type)
  if (type !== undefined) noteChoice(owner.made, element, into.key, target.span, scope)
  const named = (variable: Variable) => (name === undefined ? scope : withVariable(scope, name, variable))
  if (type !== undefined && scope.build.system.isPrimitive(type)) {
    const valueSet = element.model?.requiredValueSet
    return { action: placing(owner, into, slot), scope: named({ kind: 'place', slot, type, valueSet }) }
  }
  const contents = newMade()
  if (type !== undefined) noteCreation(scope.build, { type, made: contents, unit: scope.unit, span: target.span })
  const fresh = type === undefined ? (): Json => ({}) : freshOf(scope.build.system, type)
  const action = making(owner, into, slot, fresh, orderingOf(target, scope))
  return { action, scope: named({ kind: 'target', slot, type, made: contents }) }
}

function making(owner: Owner, into: Element, slot: number, fresh: () => Json, ordering: Ordering): Action {
  return frame => {
    frame.vars[slot] = make(frame.shared, owner.at(frame), into, fresh, ordering)
  }
}

function placing(owner: Owner, element: Element, slot: number): Action {
  return frame => {
    const holder = owner.at(frame)
    const place: Place = {
      holder,
      key: element.key,
      index: element.isList ? put(frame.shared, holder, element, null) : -1,
    }
    frame.vars[slot] = place
  }
}

/** How the items that a target makes are ordered. */
export function orderingOf(target: Target, { site }: Scope): Ordering {
  const { listModes } = target
  const share = listModes.find(each => each.share)?.share?.text
  const mode = listModes.find(each => each.mode !== 'share')?.mode
  return { mode, share, target, rule: site.rule }
}
