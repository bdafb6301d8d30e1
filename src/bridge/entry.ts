// The entries of what an agent sends as FHIR.
import { isResourceType } from '../definitions/r4.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import { cutAt } from '../lib/text.ts'
import { refused } from './refuse.ts'

/** One entry of a Bundle, or a resource that came alone. */
export interface Entry {
  readonly place: string
  readonly fullUrl: string | undefined
  /** `Type/id`, as other entries of the same Bundle may name it. */
  readonly name: string | undefined
  readonly resource: JsonObject | undefined
  readonly request: JsonObject | undefined
}

/** Returns the entries of a payload. @throws Failure VALIDATION_FAILED naming what is no entry. */
export function entriesOf(payload: JsonObject): Entry[] {
  const { resourceType, type, entry } = payload
  if (resourceType !== 'Bundle') return [entryOf({ resource: payload }, 'payload')]
  if (type !== 'transaction' && type !== 'collection')
    throw refused('A Bundle of an agent must have the type transaction or collection.', 'payload.type')
  return objectsIn(entry).map((each, index) => entryOf(each, `payload.entry[${index}]`))
}

function entryOf({ fullUrl, resource, request }: JsonObject, place: string): Entry {
  if (resource !== undefined && !(isObject(resource) && isResourceType(String(resource['resourceType']))))
    throw refused(`${place} has no resource of a type of FHIR R4.`, place)
  const own = isObject(resource) ? resource : undefined
  const id = own?.['id']
  return {
    place,
    fullUrl: typeof fullUrl === 'string' ? fullUrl : undefined,
    name: typeof id === 'string' ? `${String(own!['resourceType'])}/${id}` : undefined,
    resource: own,
    request: isObject(request) ? request : undefined,
  }
}

/** True for a Patient, and for what is to be done with Patients: those go through the register. */
export function isAboutPeople({ resource, request }: Entry): boolean {
  const [path = ''] = cutAt(String(request?.['url'] ?? ''), '?')
  return resource?.['resourceType'] === 'Patient' || /^Patient(?:\/|$)/.test(path)
}
