// Asks the catalogue of a service what it tells of a change, as a table of cases needs it.

import { createCatalogue } from '../../src/events/catalogue.ts'
import type { RelatedResources } from '../../src/events/claims.ts'
import type { Change, Occurrence } from '../../src/events/occurrence.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { baseOf } from '../support/base.ts'

export const base = baseOf('https://interop.example.org')
export const healthIdSystem = base.naming('health-id')

export const catalogue = createCatalogue(base)

/** A change of a resource from what it was to what it is; undefined where it is not there. */
export function change(type: string, now: JsonObject | undefined, before?: JsonObject): Change {
  return { type, id: 'it', version: 7, resource: now, former: before }
}

/** What is told of a change. */
export const derived = (
  type: string,
  now: JsonObject | undefined,
  before?: JsonObject,
  known?: RelatedResources,
): Occurrence[] => catalogue.derive(change(type, now, before), known)

/** The types of the events that a change leads to. */
export const names = (...step: Parameters<typeof derived>): string[] => derived(...step).map(({ type }) => type)

/** Data as it is delivered. */
export const delivered = ({ data }: Occurrence, healthId: string | null = 'CM-TQYE-6SRK-YQ6S'): JsonObject => ({
  health_id: healthId,
  ...data,
})

/** The second of two resources, with some elements in place of those of the first. */
export const but = (resource: JsonObject, elements: JsonObject): JsonObject => ({ ...resource, ...elements })
