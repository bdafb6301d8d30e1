// What the tables of inventories and payments read in resources. Anything may stand in a resource, so nothing here throws.

import { lastDayOf } from '../lib/day.ts'
import { type JsonObject, objectsIn } from '../lib/json.ts'

const own = 'https://health-interop.org/fhir/StructureDefinition'

/** The URL of an extension of this service. */
export const ownExtension = (name: string): string => `${own}/${name}`

/** The values (`valueCode`, `valueQuantity`) of the extensions with the URL. */
export function extensions(element: JsonObject, url: string, value: string): unknown[] {
  return objectsIn(element['extension'])
    .filter(each => each['url'] === url)
    .map(each => each[value])
    .filter(each => each !== undefined)
}

/** The first of them. */
export const extension = (element: JsonObject, url: string, value: string): unknown =>
  extensions(element, url, value)[0]

/** Text that is not longer than an index can hold. */
export function shortText(value: unknown, most = 200): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= most ? value : undefined
}

/** A moment in ms since 1970; undefined for a date without a time, and for what is no moment. */
export function momentOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !value.includes('T')) return undefined
  const time = Date.parse(value.replace(/:60(?=[.Z+-])/, ':59'))
  return Number.isFinite(time) ? time : undefined
}

/** The last day of a FHIR date. */
export function lastDayIn(value: unknown): string | undefined {
  return typeof value === 'string' ? lastDayOf(value) : undefined
}
