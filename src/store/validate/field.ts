// One value or a list, and the `_x` of a primitive `x` (https://hl7.org/fhir/R4/json.html#primitive).

import type { ElementModel } from '../../definitions/model.ts'
import { isObject } from '../../lib/json.ts'
import { kindOf, nameOf, report, type Walk } from './issues.ts'
import { checkObject } from './object.ts'
import type { Check, Compiler, FieldCheck } from './plan.ts'
import { primitive } from './primitives.ts'

/** The check of an element's JSON key, `single` being that of one value. */
export function valueCheck(element: ElementModel, type: string, key: string, single: Check): FieldCheck {
  if (element.max === 1) return alone(single)
  const sibling = primitive(type) ? `_${key}` : undefined
  return (value, walk, object) => {
    if (!isFullList(value, walk)) return
    for (let i = 0; i < value.length; i++) {
      walk.path.push(i)
      if (value[i] !== null || !sibling) single(value[i], walk)
      else if (!isObject(itemAt(object[sibling], i)))
        report(walk, 'structure', `${nameOf(walk)} has null without an extension that explains it`)
      walk.path.pop()
    }
  }
}

/** The check of `_x`: an id and extensions for the primitive `x`, or a list of them with null for those that have none. */
export function siblingCheck(element: ElementModel, key: string, compiler: Compiler): FieldCheck {
  const check = (value: unknown, walk: Walk, beside: unknown): void => {
    checkObject(compiler.plan('Element'), value, walk)
    if ((beside === undefined || beside === null) && isObject(value) && isOnlyId(value)) reportOnlyId(walk)
  }
  if (element.max === 1)
    return (value, walk, object) => {
      if (isSingle(value, walk)) check(value, walk, object[key])
    }
  return (value, walk, object) => {
    if (!isFullList(value, walk)) return
    for (let i = 0; i < value.length; i++) {
      walk.path.push(i)
      if (value[i] !== null) check(value[i], walk, itemAt(object[key], i))
      else if (itemAt(object[key], i) === undefined)
        report(walk, 'structure', `${nameOf(walk)} has neither value nor extension here`)
      walk.path.pop()
    }
  }
}

/** True for an object that has an id and nothing else. */
export function isOnlyId(object: Record<string, unknown>): boolean {
  for (const key in object) if (key !== 'id' && object[key] !== undefined) return false
  return object.id !== undefined
}

/** ele-1: an element has a value or children, and an id does not count (https://hl7.org/fhir/R4/element.html#Element). */
export function reportOnlyId(walk: Walk): void {
  report(walk, 'invariant', `${nameOf(walk)} has nothing but an id (ele-1)`)
}

function alone(single: Check): FieldCheck {
  return (value, walk) => {
    if (isSingle(value, walk)) single(value, walk)
  }
}

function isSingle(value: unknown, walk: Walk): boolean {
  if (!Array.isArray(value)) return true
  report(walk, 'structure', `${nameOf(walk)} must not be a list`)
  return false
}

function isFullList(value: unknown, walk: Walk): value is unknown[] {
  if (!Array.isArray(value)) report(walk, 'structure', `${nameOf(walk)} must be a list, not ${kindOf(value)}`)
  else if (value.length === 0) report(walk, 'structure', `${nameOf(walk)} is an empty list: omit it instead`)
  else return true
  return false
}

function itemAt(list: unknown, index: number): unknown {
  return Array.isArray(list) ? list[index] : undefined
}
