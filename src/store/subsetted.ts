// Parts of resources are tagged, so that none is stored in place of the whole (https://hl7.org/fhir/R4/search.html#summary).
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'

/** The tag of a resource from which elements were left out. */
export const subsetted = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }

const isSubsetted = ({ meta }: JsonObject): boolean =>
  objectsIn(isObject(meta) ? meta['tag'] : undefined).some(
    ({ system, code }) => system === subsetted.system && code === subsetted.code,
  )

/** Checks that the resource is not a part of one. @throws Failure VALIDATION_FAILED if it is tagged as such. */
export function mustBeWhole(type: string, resource: JsonObject): void {
  if (!isSubsetted(resource)) return
  const message = `The ${type} is tagged SUBSETTED: it is a part of a resource, and storing it would delete the rest. Read the resource without _summary and _elements; to store it as it is, remove the tag.`
  throw new Failure('VALIDATION_FAILED', message, {
    issue: 'business-rule',
    details: [{ field: `${type}.meta.tag`, code: 'business-rule', message }],
  })
}
