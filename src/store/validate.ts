// Is this a valid R4 resource? Structure, primitives, required codes, references and invariants, all problems at once.
// https://hl7.org/fhir/R4/validation.html

import { elementsOf } from '../fhirpath/steps.ts'
import { isObject } from '../lib/json.ts'
import { boundsOf } from './size.ts'
import type { InvariantEvaluator } from './validate/invariants.ts'
import { type Issue, listed, startWalk } from './validate/issues.ts'
import { compileResource } from './validate/resource.ts'

export type { InvariantEvaluator } from './validate/invariants.ts'
export type { Issue } from './validate/issues.ts'

interface ValidateOptions {
  /** The type the resource has to be, such as the one in the URL it was sent to. */
  readonly type?: string
  /** True where the caller resolves references such as `Patient?identifier=x`; a Bundle may always have them. */
  readonly conditionalReferences?: boolean
}

/** Every problem of a resource; none means it is valid. */
export type Validate = (resource: unknown, options?: ValidateOptions) => Issue[]

/** A validator that also runs FHIRPath invariants when given an evaluator for them. */
export function createValidator({ invariants }: { invariants?: InvariantEvaluator } = {}): Validate {
  const check = compileResource(invariants)
  return (resource, options = {}) => {
    const type = isObject(resource) && typeof resource.resourceType === 'string' ? resource.resourceType : 'Resource'
    if (options.type !== undefined && type !== options.type) return [mismatch(type, options.type)]
    const large = largeness(resource, type)
    if (large) return [large]
    const walk = startWalk(isObject(resource) ? resource : {}, type)
    walk.conditional = options.conditionalReferences ?? type === 'Bundle'
    check(resource, walk)
    return listed(walk)
  }
}

/** Validates without FHIRPath invariants, save those checked by hand (dom-2 to dom-5, ele-1, ext-1, txt-1, txt-2). */
export const validateResource: Validate = createValidator()

function mismatch(type: string, wanted: string): Issue {
  const diagnostics = `expected a resource of type ${wanted}, not ${type}`
  return { severity: 'error', code: 'structure', diagnostics, expression: type.slice(0, 64) }
}

/** The issue of a resource that is too large to be looked at, naming the element that makes it so. */
function largeness(resource: unknown, type: string): Issue | undefined {
  if (!isObject(resource)) return undefined
  const all = elementsOf(resource) - 1
  const most = boundsOf(type).values
  if (all <= most) return undefined
  const parts = Object.entries(resource).map(([name, value]) => ({ name, values: elementsOf(value) }))
  const largest = parts.reduce((one, other) => (other.values > one.values ? other : one))
  const name = largest.name.slice(0, 64)
  const diagnostics = `the resource has ${all} values, ${largest.values} of them in \`${name}\`; the limit is ${most}: split it`
  return { severity: 'error', code: 'too-costly', diagnostics, expression: `${type.slice(0, 64)}.${name}` }
}
