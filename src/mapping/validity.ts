// Checks that records and resources conform to their type: R4's by the store's validator, shapes by their schema.

import type { TObject } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { isResourceType } from '../definitions/r4.ts'
import { fhirPathInvariants } from '../store/validate/fhirpath-invariants.ts'
import { createValidator } from '../store/validate.ts'

/** Returns the problems of a value of a type, each with its place; none for unknown types. */
export type Inspect = (value: unknown, type: string | undefined) => string[]

/** Inspects resources of R4 and records of these shapes. */
export function createInspect(shapes: readonly TObject[]): Inspect {
  const validate = createValidator({ invariants: fhirPathInvariants })
  const schemas = new Map(shapes.map(shape => [(shape as { $id?: string }).$id, shape]))
  const checkers = new Map<string | undefined, Validator>()
  const checkerOf = (type: string | undefined): Validator | undefined => {
    const schema = schemas.get(type)
    if (schema && !checkers.has(type)) checkers.set(type, Compile(schema) as Validator)
    return checkers.get(type)
  }
  return (value, type) => {
    if (type !== undefined && isResourceType(type)) {
      const issues = validate(value, { type, conditionalReferences: true })
      return issues.filter(each => each.severity === 'error').map(each => `${each.expression}: ${each.diagnostics}`)
    }
    const checker = checkerOf(type)
    if (!checker || checker.Check(value)) return []
    // The checker reports an unknown field twice; once is enough.
    const [, errors] = checker.Errors(value)
    const once = errors.filter(({ keyword }) => keyword !== 'boolean')
    return once.map(error => `${type}${placeOf(error.instancePath)}: ${wordsOf(error)}`)
  }
}

/** `/codes/1/code` as `.codes[1].code` */
function placeOf(pointer: string): string {
  return pointer.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')
}

function wordsOf({ message, params }: { readonly message: string; readonly params: object }): string {
  const { requiredProperties, additionalProperties, allowedValues } = params as Record<string, readonly unknown[]>
  if (requiredProperties) return `${requiredProperties.join(', ')} is missing`
  if (additionalProperties) return `${additionalProperties.join(', ')} is unknown`
  return allowedValues ? `must be one of ${allowedValues.join(', ')}` : message
}
