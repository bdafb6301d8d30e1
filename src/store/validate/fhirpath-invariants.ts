// Runs invariants with the project's own FHIRPath compiler, each compiled when its type is first met.
import { typeModel, valueSetHas } from '../../definitions/r4.ts'
import { compileBoolean } from '../../fhirpath/compile.ts'
import { isObject } from '../../lib/json.ts'
import type { InvariantEvaluator } from './invariants.ts'

// que-7 as published in R4 requires a System.Boolean, which no FHIR boolean is.
const errata: Readonly<Record<string, string>> = { 'que-7': "operator = 'exists' implies (answer is boolean)" }

// Not strict: some invariants of R4 name elements that their type does not have (cid-0), which then are simply empty.
/** An invariant holds unless it is clearly false: where data of different precision gives no answer, the resource is accepted. */
export const fhirPathInvariants: InvariantEvaluator = (constraint, typeName) => {
  const type = constraint.element ? typeOfElement(typeName, constraint.element) : typeName
  if (!type) return undefined
  const holds = compileBoolean(errata[constraint.key] ?? constraint.expression, {
    model: { typeModel },
    type,
    strict: false,
  })
  return (node, resource, root) => holds(node, { resource, rootResource: root, memberOf }) !== false
}

function typeOfElement(typeName: string, path: string): string | undefined {
  let type: string | undefined = typeName
  for (const step of path.split('.')) type = type && typeModel(type)?.elements.get(step)?.types[0]
  return type
}

function memberOf(value: unknown, _type: string, valueSet: string): boolean | undefined {
  if (typeof value === 'string') return valueSetHas(valueSet, value)
  return isObject(value) && typeof value['code'] === 'string'
    ? valueSetHas(valueSet, value['code'], value['system'] as string | undefined)
    : undefined
}
