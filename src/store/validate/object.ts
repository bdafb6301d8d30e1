// Checks one JSON object against the plan of its type.

import { jsonKey } from '../../definitions/r4.ts'
import { isObject } from '../../lib/json.ts'
import { runInvariants } from './invariants.ts'
import { kindOf, nameOf, report, type Walk } from './issues.ts'
import { unknownElement } from './names.ts'
import type { Field, Plan } from './plan.ts'

/** Deeper nesting is refused rather than followed. */
const deepest = 64

/** Checks an object and all within it. `known` is a key that the caller has dealt with. */
export function checkObject(plan: Plan, value: unknown, walk: Walk, known?: string): void {
  if (!isObject(value)) {
    report(walk, 'structure', `${nameOf(walk)} must be an object, not ${kindOf(value)}`)
  } else if (walk.depth >= deepest) {
    report(walk, 'too-costly', `nested deeper than ${deepest} levels`)
  } else {
    const before = walk.broken
    walk.depth++
    checkFields(plan, value, walk, known)
    walk.depth--
    if (plan.invariants.length > 0 && walk.broken === before) runInvariants(plan.invariants, value, walk)
  }
}

function checkFields(plan: Plan, object: Record<string, unknown>, walk: Walk, known: string | undefined): void {
  const { fields } = plan
  const { path } = walk
  let seen = 0
  let empty = true
  for (const key in object) {
    const value = object[key]
    if (value === undefined) continue
    empty = false
    const field = fields.get(key)
    if (field === undefined) {
      if (key !== known) reportUnknown(plan, key, walk)
      continue
    }
    if (field.choice && (seen & field.bit) !== 0) checkChoice(plan, field, key, object, walk)
    seen |= field.bit
    path.push(field.name)
    field.check(value, walk, object)
    path.pop()
  }
  if (empty) report(walk, 'structure', `${nameOf(walk)} is empty: omit it instead`)
  else if ((plan.required & ~seen) !== 0) reportMissing(plan, plan.required & ~seen, walk)
}

const reportUnknown = (plan: Plan, key: string, walk: Walk): void =>
  report(walk, 'structure', () => unknownElement(plan.model, key), key.slice(0, 64))

// `valueString` and `_valueString` are one value; `valueString` and `valueCode` are two.
function checkChoice(plan: Plan, field: Field, key: string, object: Record<string, unknown>, walk: Walk): void {
  const bare = key.replace(/^_/, '')
  const keys = Object.keys(object).filter(it => plan.fields.get(it)?.bit === field.bit)
  const other = keys.find(it => it.replace(/^_/, '') !== bare)
  if (other) report(walk, 'structure', `only one of \`${other}\` and \`${key}\` can be given`, field.name)
}

function reportMissing(plan: Plan, missing: number, walk: Walk): void {
  for (const [bit, element] of plan.bits) {
    if ((missing & bit) === 0) continue
    const keys = element.types.map(type => jsonKey(element, type))
    const shown = element.choice ? `\`${element.name}[x]\`: ${keys.join(', ')}` : `\`${element.name}\``
    report(walk, 'required', `${plan.model.name} must have ${shown}`, element.name)
  }
}
