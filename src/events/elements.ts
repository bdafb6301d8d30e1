// Readers of elements for the rules of events. A resource may hold anything, so nothing here throws.

import { isObject, type JsonObject } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { objects, referenceTarget, text } from '../store/values.ts'
import type { LifecycleStep, Surroundings } from './claims.ts'

const own = 'https://health-interop.org/fhir/StructureDefinition'

/** Returns the resource of a step: its current version, or its last one. */
export const latest = ({ now, before }: LifecycleStep): JsonObject => now ?? before ?? {}

/** The value (`valueCode`, `valueReference`) of this service's own extension. */
export function extension(resource: JsonObject, name: string, value: string): unknown {
  return objects(resource['extension']).find(({ url }) => url === `${own}/${name}`)?.[value]
}

/** `Type/id` if it is one of this server's own. @param base address of this server's FHIR endpoint */
export function targetOf(reference: unknown, base: Base): { type: string; id: string } | undefined {
  const address = isObject(reference) ? text(reference['reference']) : undefined
  const target = address === undefined ? undefined : referenceTarget(address, base)
  const [, type, id] = /^([A-Z][A-Za-z]*)\/([A-Za-z0-9.-]{1,64})$/.exec(target ?? '') ?? []
  return type === undefined || id === undefined ? undefined : { type, id }
}

/** Id of the first that a reference, or a list of them, leads to and that is of one of the types. */
export function idIn(references: unknown, types: readonly string[], { base }: Surroundings): string | undefined {
  for (const each of objects(references)) {
    const target = targetOf(each, base)
    if (target && types.includes(target.type)) return target.id
  }
  return undefined
}

/** Returns the id of the patient that the reference names. */
export const patientIn = (reference: unknown, around: Surroundings): string | undefined =>
  idIn(reference, ['Patient'], around)

/** Returns the id of the facility: from this service's own extension, else the first that the references lead to. */
export function facilityIn(resource: JsonObject, around: Surroundings, ...references: unknown[]): string | undefined {
  const candidates = [extension(resource, 'facility', 'valueReference'), ...references]
  for (const each of candidates) {
    const id = idIn(each, ['Organization', 'Location'], around)
    if (id !== undefined) return id
  }
  return undefined
}

/** A code of a status or the like; null if there is none. */
export const codeIn = (value: unknown): string | null => text(value) ?? null

/** The codings of a concept, or of a list of them. */
export const codingsIn = (concepts: unknown): JsonObject[] => objects(concepts).flatMap(({ coding }) => objects(coding))

/** Longest name that an event contains. */
const longest = 200

/** Returns the name of a test: the display of its code, else its text, else its code. */
export function nameIn(concept: unknown): string | null {
  const codings = codingsIn(concept)
  const spoken = isObject(concept) ? concept['text'] : undefined
  const names = [...codings.map(({ display }) => display), spoken, ...codings.map(({ code }) => code)]
  const name = names.find(each => typeof each === 'string' && each.trim() !== '')
  return typeof name === 'string' ? name.trim().slice(0, longest) : null
}
