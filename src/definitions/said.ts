// A stored resource of which a message says only a part: silence keeps what is stored, except what cannot stay beside what is said.
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import { elementByJsonKey } from './r4.ts'

/** A code of HL7 v2 for which FHIR has no equivalent (`KeptCode` in mappings/hl7v2/datatypes.fml). */
const keptCode = 'https://health-interop.org/fhir/StructureDefinition/hl7v2-code'

/** Elements of which a message often says less than is known: a year, `true` where a date could stand, that a medicine or a sex is not known. */
const oftenVague: Readonly<Record<string, readonly string[]>> = {
  Patient: ['birthDate', 'deceased', 'gender', 'multipleBirth'],
  MedicationRequest: ['medication'],
}
const absent = 'http://terminology.hl7.org/CodeSystem/data-absent-reason'

/**
 * Returns the stored resource with the members that are sent. Other types of a choice that is sent go (a text where a number was), and what
 * `_birthDate` adds to another birth date. A year does not replace a day of that year, nor `true` a date or a number,
 * nor an unknown sex a known one. Extensions of one URL
 * are replaced together.
 * @param isRuledOut whether a stored element, such as `value`, cannot stay beside what is sent
 */
export function saidOver(
  stored: JsonObject,
  sent: JsonObject,
  isRuledOut: (element: string) => boolean = () => false,
): JsonObject {
  const type = String(sent['resourceType'])
  const news = withoutVague(type, stored, sent)
  const said = new Map(Object.keys(news).map(key => [elementOf(type, key), plain(key)]))
  const kept = Object.entries(stored).filter(([key]) => {
    const element = elementOf(type, key)
    return !isRuledOut(element) && (said.get(element) ?? plain(key)) === plain(key) && !isOfAnother(key, stored, news)
  })
  return withExtensions({ ...Object.fromEntries(kept), ...news }, stored, sent)
}

/** Returns the resource without elements, of whichever type a choice is: without `deceased`, no `deceasedDateTime` is left. */
export function withoutElements(resource: JsonObject, elements: ReadonlySet<string>): JsonObject {
  const type = String(resource['resourceType'])
  return Object.fromEntries(Object.entries(resource).filter(([key]) => !elements.has(elementOf(type, key))))
}

/** `deceasedDateTime` and `_deceasedDateTime` are both of the element `deceased`. */
export const elementOf = (type: string, key: string): string =>
  elementByJsonKey(type, plain(key))?.element.name ?? plain(key)

const plain = (key: string): string => key.replace(/^_/, '')

/** True of what is said of a stored value in place of which another one is sent. */
function isOfAnother(key: string, stored: JsonObject, news: JsonObject): boolean {
  const value = key.startsWith('_') ? news[plain(key)] : undefined
  return value !== undefined && JSON.stringify(value) !== JSON.stringify(stored[plain(key)])
}

function withoutVague(type: string, stored: JsonObject, sent: JsonObject): JsonObject {
  const isVague = (key: string, value: unknown): boolean => {
    const element = elementOf(type, key)
    const isOften = oftenVague[type]?.includes(element) ?? false
    return (
      isOften &&
      Object.entries(stored).some(([name, known]) => elementOf(type, name) === element && isLess(value, known))
    )
  }
  return Object.fromEntries(Object.entries(sent).filter(([key, value]) => !isVague(key, value)))
}

function isLess(value: unknown, known: unknown): boolean {
  if (value === 'unknown') return typeof known === 'string'
  if (value === true) return typeof known === 'string' || typeof known === 'number'
  if (isObject(value)) return objectsIn(value['coding']).some(({ system }) => system === absent)
  return (
    typeof value === 'string' && typeof known === 'string' && known.length > value.length && known.startsWith(value)
  )
}

/** Silence keeps extensions. A kept code goes: what is sent has the code that holds now, in an element or as an extension. */
function withExtensions(resource: JsonObject, stored: JsonObject, sent: JsonObject): JsonObject {
  const said = objectsIn(sent['extension'])
  const urls = new Set([keptCode, ...said.map(({ url }) => url)])
  const extension = [...objectsIn(stored['extension']).filter(({ url }) => !urls.has(url)), ...said]
  if (extension.length > 0) return { ...resource, extension }
  const { extension: _none, ...rest } = resource
  return rest
}
