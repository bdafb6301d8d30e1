// A first input for a map that is new: a record or resource of its type with something in each element, for its author to change.

import type { ElementModel } from '../../definitions/model.ts'
import { jsonKey, typeModel } from '../../definitions/r4.ts'
import type { Structures } from '../../fml/structures.ts'
import type { JsonObject } from '../../lib/json.ts'

const values: Readonly<Record<string, unknown>> = {
  boolean: true,
  date: '2026-03-14',
  dateTime: '2026-03-14T09:30:00+01:00',
  instant: '2026-03-14T09:30:00+01:00',
  time: '09:30:00',
  decimal: 1.5,
  integer: 1,
  positiveInt: 1,
  unsignedInt: 1,
  id: 'example',
  uri: 'https://example.org/example',
  url: 'https://example.org/example',
  canonical: 'https://example.org/example',
  Reference: { reference: 'Patient/example' },
  CodeableConcept: { text: 'example' },
  Coding: { code: 'example' },
  Identifier: { system: 'https://example.org/ids', value: '1042' },
  HumanName: { family: 'Ngo Bih', given: ['Amina'] },
  Quantity: { value: 1.5, unit: 'mg' },
  Period: { start: '2026-03-14' },
  ContactPoint: { system: 'phone', value: '+237 677 12 34 56' },
  Annotation: { text: 'example' },
}

/** How deep parts within parts are filled. */
const DEEPEST = 3

/**
 * Returns a sample of a type; undefined for a type that is not known, or a message of HL7 v2. Of resources it has what is required and what a
 * summary has, of records everything.
 */
export function sampleOf(type: string, structures: Structures): JsonObject | undefined {
  const model = structures.typeModel(type)
  if (!model || [...model.elements.keys()].includes('MSH')) return undefined
  const parts = partsOf(type, structures, 0)
  const isResource = typeModel(type)?.kind === 'resource'
  return isResource ? { resourceType: type, ...parts } : parts
}

function partsOf(type: string, structures: Structures, depth: number): JsonObject {
  const all = [...(structures.typeModel(type)?.elements.values() ?? [])]
  const isFhir = typeModel(type) !== undefined
  const wanted = all.filter(({ name, min, summary }) => !LEFT_OUT.has(name) && (!isFhir || min > 0 || summary))
  const entries = wanted.map(element => [keyOf(element), contentOf(element, structures, depth)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const LEFT_OUT = new Set([
  ...['meta', 'implicitRules', 'language', 'text', 'contained', 'extension', 'modifierExtension'],
])

const keyOf = (element: ElementModel): string => (element.choice ? jsonKey(element, element.types[0]!) : element.name)

function contentOf(element: ElementModel, structures: Structures, depth: number): unknown {
  const [type] = element.types
  const value = type === undefined ? undefined : oneOf(type, element, structures, depth)
  return value !== undefined && element.max > 1 ? [value] : value
}

function oneOf(type: string, { name, requiredValueSet }: ElementModel, structures: Structures, depth: number): unknown {
  const codes = requiredValueSet === undefined ? undefined : structures.valueSet(requiredValueSet)
  const [first] = codes?.values() ?? []
  if (first) return [...first][0]
  if (Object.hasOwn(values, type)) return values[type]
  const kind = structures.typeModel(type)?.kind
  if (kind === undefined || kind === 'primitive') return /^id$|_id$/.test(name) ? 'example' : name.replaceAll('_', ' ')
  if (depth >= DEEPEST || kind === 'resource') return undefined
  const parts = partsOf(type, structures, depth + 1)
  return Object.keys(parts).length > 0 ? parts : undefined
}
