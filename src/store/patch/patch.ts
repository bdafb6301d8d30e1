// Patches: JSON Patch (RFC 6902) and FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html), each applied whole or not at all.
import type { JsonObject } from '../../lib/json.ts'
import { applyFhirPathPatch } from './fhirpath-patch.ts'
import { applyJsonPatch } from './json-patch.ts'

export type Patch =
  | { readonly kind: 'json'; readonly operations: unknown }
  | { readonly kind: 'fhirpath'; readonly parameters: unknown }

/**
 * Applies a patch to a freshly parsed resource, which it changes; after a failure the object must not be used.
 * @returns the resource, which may be another object, and any value if the patch replaced the whole.
 * @throws Failure MALFORMED_REQUEST for a patch that is none, VALIDATION_FAILED for one that does not fit the resource.
 */
export function applyPatch(resource: JsonObject, patch: Patch): JsonObject {
  return patch.kind === 'json'
    ? applyJsonPatch(resource, patch.operations)
    : applyFhirPathPatch(resource, patch.parameters)
}
