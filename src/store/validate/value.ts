// The check of one value of an element, by its type.

import type { ElementModel, TypeModel } from '../../definitions/model.ts'
import { isObject } from '../../lib/json.ts'
import { codeCheck, conceptCheck } from './bindings.ts'
import { kindOf, nameOf, noteLocal, report, type Walk } from './issues.ts'
import { checkObject } from './object.ts'
import type { Check, Compiler, Plan } from './plan.ts'
import { isJsonType, type Primitive, primitive } from './primitives.ts'
import { checkReference } from './references.ts'

type ObjectCheck = (value: Record<string, unknown>, walk: Walk) => void

/** The check of one value of this type in this element. */
export function singleCheck(model: TypeModel, element: ElementModel, type: string, compiler: Compiler): Check {
  const simple = primitive(type)
  if (simple) return primitiveCheck(type, simple, element.requiredValueSet)
  if (type === 'Resource') return compiler.resource(`${model.name}.${element.name}`)
  const more = moreCheck(element, type)
  let plan: Plan | undefined
  return (value, walk) => {
    plan ??= compiler.plan(type)
    checkObject(plan, value, walk)
    if (more && isObject(value)) more(value, walk)
  }
}

// What an element asks of a datatype beyond its structure.
function moreCheck(element: ElementModel, type: string): ObjectCheck | undefined {
  if (type === 'Extension') return checkExtension
  if (type === 'CodeableConcept' && element.requiredValueSet) return conceptCheck(element.requiredValueSet)
  if (type !== 'Reference') return undefined
  const targets = element.targets && new Set(element.targets)
  return (value, walk) => checkReference(value, targets, walk)
}

function primitiveCheck(type: string, { json, problem }: Primitive, valueSet: string | undefined): Check {
  const code = valueSet ? codeCheck(valueSet) : undefined
  const mayBeLocal = type === 'uri' || type === 'url' || type === 'canonical'
  return (value, walk) => {
    if (!isJsonType(value, json)) return wrongKind(value, json, walk)
    const found = problem(value)
    if (found !== undefined) report(walk, 'value', `${nameOf(walk)} ${found}`)
    else if (code) code(value, walk)
    else if (mayBeLocal && (value as string).charCodeAt(0) === 35) noteLocal(walk, value as string)
  }
}

function wrongKind(value: unknown, json: string, walk: Walk): undefined {
  const problem = value === null ? 'must not be null; leave it out instead' : `must be a ${json}, not ${kindOf(value)}`
  report(walk, 'structure', `${nameOf(walk)} ${problem}`)
}

// ext-1: https://hl7.org/fhir/R4/extensibility.html#Extension
function checkExtension(value: Record<string, unknown>, walk: Walk): void {
  let hasValue = false
  for (const key in value) if (key.startsWith('value') || key.startsWith('_value')) hasValue = true
  const hasExtension = value.extension !== undefined
  if (hasValue === hasExtension) {
    const found = hasValue ? 'not both' : 'and this one has neither'
    report(walk, 'extension', `an extension has either a value or extensions, ${found} (ext-1)`)
  }
}
