// The check of one value of an element, by its type.

import type { ElementModel, TypeModel } from '../../definitions/model.ts'
import { isSubtype } from '../../definitions/r4.ts'
import { isObject } from '../../lib/json.ts'
import { checkOutside, codeCheck, conceptCheck } from './bindings.ts'
import { isOnlyId, reportOnlyId } from './field.ts'
import { kindOf, nameOf, noteLocal, quoted, report, type Walk, warn } from './issues.ts'
import { checkObject } from './object.ts'
import type { Check, Compiler, Plan } from './plan.ts'
import { isJsonType, type Primitive, primitive } from './primitives.ts'
import { checkReference, isAbsoluteUri } from './references.ts'

type ObjectCheck = (value: Record<string, unknown>, walk: Walk) => void

/** The check of one value of this type in this element. */
export function singleCheck(model: TypeModel, element: ElementModel, type: string, compiler: Compiler): Check {
  const simple = primitive(type)
  if (simple) return primitiveCheck(`${model.name}.${element.name}`, type, simple, element.requiredValueSet)
  if (type === 'Resource') return compiler.resource(`${model.name}.${element.name}`)
  const more = moreCheck(model, element, type)
  let plan: Plan | undefined
  return (value, walk) => {
    plan ??= compiler.plan(type)
    checkObject(plan, value, walk)
    if (!isObject(value)) return
    if (value.id !== undefined && isOnlyId(value)) reportOnlyId(walk)
    more?.(value, walk)
  }
}

// The constraints that an element adds to the structure of its datatype.
function moreCheck(model: TypeModel, element: ElementModel, type: string): ObjectCheck | undefined {
  if (type === 'Extension') return model.name === 'Extension' ? checkExtension : checkOuterExtension
  if (type === 'CodeableConcept' && element.requiredValueSet) return conceptCheck(element.requiredValueSet)
  if (type === 'Coding' || isSubtype(type, 'Quantity')) return checkOutside
  if (type !== 'Reference') return undefined
  const targets = element.targets && new Set(element.targets)
  return (value, walk) => checkReference(value, targets, walk)
}

// https://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.fullUrl
const ABSOLUTE = new Set(['Bundle.entry.fullUrl'])

// A URL gives the meaning of a code, identifier or unit: https://hl7.org/fhir/R4/terminologies.html#system
const SYSTEMS = new Set(['Coding.system', 'Identifier.system', 'ValueSet.compose.include.system'])

function isSystem(path: string): boolean {
  return SYSTEMS.has(path) || (path.endsWith('.system') && isSubtype(path.slice(0, -'.system'.length), 'Quantity'))
}

// https://hl7.org/fhir/R4/http.html#mime-type
const FORMATS = ['xml', 'json', 'ttl']

// Where formats may be named in short: https://hl7.org/fhir/R4/capabilitystatement-definitions.html#CapabilityStatement.format
function shortNames(path: string): readonly string[] {
  return path === 'CapabilityStatement.format' || path.startsWith('TestScript.') ? FORMATS : []
}

function primitiveCheck(path: string, type: string, { json, problem }: Primitive, valueSet: string | undefined): Check {
  const code = valueSet ? codeCheck(valueSet, shortNames(path)) : undefined
  const mayBeLocal = type === 'uri' || type === 'url' || type === 'canonical'
  const isAbsolute = ABSOLUTE.has(path)
  const isName = isSystem(path)
  return (value, walk) => {
    if (!isJsonType(value, json)) return wrongKind(value, json, walk)
    const found = problem(value) ?? (isAbsolute ? relativeProblem(value as string) : undefined)
    if (found !== undefined) report(walk, 'value', `${nameOf(walk)} ${found}`)
    else if (code) code(value, walk)
    else if (mayBeLocal && (value as string).charCodeAt(0) === 35) noteLocal(walk, value as string)
    if (isName && found === undefined) checkSystem(value as string, walk)
  }
}

function wrongKind(value: unknown, json: string, walk: Walk): undefined {
  const problem = value === null ? 'must not be null: omit it instead' : `must be a ${json}, not ${kindOf(value)}`
  report(walk, 'structure', `${nameOf(walk)} ${problem}`)
}

// Not an error: `MRN` is wrong, but common in stored data, and its readers understand it.
function checkSystem(url: string, walk: Walk): void {
  if (!isAbsoluteUri(url)) warn(walk, 'value', () => `${nameOf(walk)} ${relativeProblem(url)}`)
}

function relativeProblem(url: string): string | undefined {
  return isAbsoluteUri(url) ? undefined : `is not an absolute URL: ${quoted(url)}`
}

// Only a part of a complex extension has a relative URL: https://hl7.org/fhir/R4/extensibility.html#Extension.url
function checkOuterExtension(value: Record<string, unknown>, walk: Walk): void {
  const { url } = value
  if (typeof url === 'string' && url !== '' && !isAbsoluteUri(url)) {
    const problem = `\`url\` is not absolute: ${quoted(url)}; only extensions within an extension have relative ones`
    report(walk, 'value', problem, 'url')
  }
  checkExtension(value, walk)
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
