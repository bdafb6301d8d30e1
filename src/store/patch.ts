// Patches: JSON Patch (RFC 6902) and FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html), each applied whole or not at all.
import { applyPatch as applyJsonPatch } from '@medplum/core'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { applyFhirPathPatch } from './fhirpath-patch.ts'

export type Patch =
  | { readonly kind: 'json'; readonly operations: unknown }
  | { readonly kind: 'fhirpath'; readonly parameters: unknown }

type JsonPatch = Parameters<typeof applyJsonPatch>[1]

const mostOperations = 1000

/**
 * Applies a patch to a freshly parsed resource, which it changes; after a failure the object is of no use any more.
 * @throws Failure MALFORMED_REQUEST for a patch that is none, VALIDATION_FAILED for one that does not fit the resource.
 */
export function applyPatch(resource: JsonObject, patch: Patch): JsonObject {
  if (patch.kind === 'fhirpath') return applyFhirPathPatch(resource, patch.parameters)
  const operations = jsonOperations(patch.operations)
  const [failed] = attempt(resource, operations)
  if (failed)
    throw new Failure(
      'VALIDATION_FAILED',
      `The patch does not apply: operation ${failed.index + 1} (${operations[failed.index]!.op}): ${failed.message}.`,
    )
  return resource
}

const verbs = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

function jsonOperations(value: unknown): JsonPatch {
  if (!Array.isArray(value))
    throw new Failure('MALFORMED_REQUEST', 'A JSON Patch is an array of operations (RFC 6902).')
  if (value.length > mostOperations)
    throw new Failure('MALFORMED_REQUEST', `A patch has at most ${mostOperations} operations.`)
  value.forEach((operation: unknown, index) => {
    const wrong = (what: string): Failure =>
      new Failure('MALFORMED_REQUEST', `Operation ${index + 1} of the patch ${what}.`)
    if (!isObject(operation)) throw wrong('is not an object')
    const { op, path, from } = operation
    if (typeof op !== 'string' || !verbs.has(op)) throw wrong(`must have op: ${[...verbs].join(', ')}`)
    if (!isPointer(path)) throw wrong('must have a path that is a JSON Pointer, such as /name/0/given')
    if ((op === 'move' || op === 'copy') && !isPointer(from)) throw wrong('must have a from that is a JSON Pointer')
    if ((op === 'add' || op === 'replace' || op === 'test') && !Object.hasOwn(operation, 'value'))
      throw wrong('must have a value')
  })
  return value as JsonPatch
}

/** A JSON Pointer (RFC 6901) that leads nowhere near an object's prototype. */
function isPointer(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    (value === '' || value.startsWith('/')) &&
    !/\/(?:__proto__|constructor|prototype)(?:\/|$)/.test(value)
  )
}

function attempt(resource: JsonObject, operations: JsonPatch): { index: number; message: string }[] {
  try {
    return applyJsonPatch(resource, operations).flatMap((error, index) =>
      error ? [{ index, message: error.message }] : [],
    )
  } catch (error) {
    return [{ index: 0, message: (error as Error).message }]
  }
}
