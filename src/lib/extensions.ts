// Extensions of a resource of which a message says only a part.
import { type JsonObject, objectsIn } from './json.ts'

/** A code of HL7 v2 for which FHIR has no equivalent (`KeptCode` in mappings/hl7v2/datatypes.fml). */
const keptCode = 'https://health-interop.org/fhir/StructureDefinition/hl7v2-code'

/**
 * Returns the resource with its stored extensions and those that are sent. Those of one URL are replaced together; silence keeps them. A kept
 * code goes: what is sent has the code that holds now, in an element or as an extension.
 */
export function withExtensions(resource: JsonObject, stored: JsonObject, sent: JsonObject): JsonObject {
  const said = objectsIn(sent['extension'])
  const urls = new Set([keptCode, ...said.map(({ url }) => url)])
  const extension = [...objectsIn(stored['extension']).filter(({ url }) => !urls.has(url)), ...said]
  if (extension.length > 0) return { ...resource, extension }
  const { extension: _none, ...rest } = resource
  return rest
}
