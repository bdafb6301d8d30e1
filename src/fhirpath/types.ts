// Type names of FHIR and System, and how they relate. https://hl7.org/fhir/R4/fhirpath.html#types

import type { ElementModel, TypeModel } from '../definitions/model.ts'

/** The types an expression can yield; undefined when they depend on the data. */
export type Types = readonly string[] | undefined

/** Knows the FHIR types: `typeModel` of `src/definitions/r4.ts`, or a test's own. */
export interface Model {
  typeModel(name: string): TypeModel | undefined
}

/** The System types, which literals and computed values have. http://hl7.org/fhirpath/N1/#literals */
const SYSTEM_TYPES = new Set(
  ['Any', 'Boolean', 'String', 'Integer', 'Decimal', 'Date', 'DateTime', 'Time', 'Quantity'].map(
    name => `System.${name}`,
  ),
)

/** The System type a FHIR primitive is converted to where one is needed; the string-like ones are left to a default. */
const CONVERSIONS = new Map([
  ['boolean', 'System.Boolean'],
  ['integer', 'System.Integer'],
  ['positiveInt', 'System.Integer'],
  ['unsignedInt', 'System.Integer'],
  ['decimal', 'System.Decimal'],
  ['date', 'System.Date'],
  ['dateTime', 'System.DateTime'],
  ['instant', 'System.DateTime'],
  ['time', 'System.Time'],
  ['Quantity', 'System.Quantity'],
  ['Age', 'System.Quantity'],
  ['Count', 'System.Quantity'],
  ['Distance', 'System.Quantity'],
  ['Duration', 'System.Quantity'],
])
const STRINGS = 'string code id uri url canonical oid uuid markdown base64Binary xhtml'
  .split(' ')
  .map(name => [name, 'System.String'] as const)
for (const [name, type] of STRINGS) CONVERSIONS.set(name, type)

/** The System type that values of a type are read as in operators and functions; undefined for complex types. */
export function systemType(type: string): string | undefined {
  return CONVERSIONS.get(type) ?? (SYSTEM_TYPES.has(type) ? type : undefined)
}

/** The element of a type as it is found in JSON. */
interface JsonProperty {
  readonly name: string
  readonly type: string
}

/** The questions that a model answers about its types. */
export interface TypeSystem {
  readonly model: Model
  /** True if `type` is `base` or derives from it. */
  isSubtype(type: string, base: string): boolean
  isPrimitive(type: string): boolean
  /** True for types whose values name their own type (`Resource`), or can have any (`Element`). */
  isOpen(type: string): boolean
  /** The full name of a type as written in an expression; undefined if there is none. */
  find(parts: readonly string[]): string | undefined
  /** The types of an element, undefined if one of them is open. */
  typesOf(element: ElementModel): Types
  /** The elements of a type by JSON property. */
  properties(type: string): ReadonlyMap<string, JsonProperty>
}

const systems = new WeakMap<Model, TypeSystem>()

/** The type system of a model, made once. */
export function typeSystem(model: Model): TypeSystem {
  let system = systems.get(model)
  if (!system) {
    system = createSystem(model)
    systems.set(model, system)
  }
  return system
}

function createSystem(model: Model): TypeSystem {
  const maps = new Map<string, ReadonlyMap<string, JsonProperty>>()
  const isOpen = (type: string) => model.typeModel(type)?.abstract ?? true
  return {
    model,
    isOpen,
    isPrimitive: type => model.typeModel(type)?.kind === 'primitive',
    isSubtype: (type, base) => isSubtype(model, type, base),
    find: parts => findType(model, parts),
    typesOf: element => (element.types.some(isOpen) ? undefined : element.types),
    properties(type) {
      let map = maps.get(type)
      if (!map) {
        const known = model.typeModel(type)
        map = known ? jsonProperties(known) : new Map()
        if (known) maps.set(type, map)
      }
      return map
    },
  }
}

function isSubtype(model: Model, type: string, base: string): boolean {
  if (type === base) return true
  if (type.startsWith('System.')) return base === 'System.Any'
  for (let name = model.typeModel(type)?.base; name; name = model.typeModel(name)?.base) if (name === base) return true
  return false
}

/** FHIR first, then System, unless the name includes the namespace. https://hl7.org/fhir/R4/fhirpath.html#types */
function findType(model: Model, parts: readonly string[]): string | undefined {
  const [first, ...rest] = parts
  if (first === 'System' && rest.length > 0) return parts.join('.')
  const name = first === 'FHIR' && rest.length > 0 ? rest.join('.') : parts.join('.')
  if (model.typeModel(name)) return name
  const system = `System.${name}`
  return first !== 'FHIR' && SYSTEM_TYPES.has(system) ? system : undefined
}

function jsonProperties(type: TypeModel): Map<string, JsonProperty> {
  const map = new Map<string, JsonProperty>()
  for (const element of type.elements.values()) {
    for (const name of element.types) map.set(jsonKey(element, name), { name: element.name, type: name })
  }
  return map
}

/** The JSON property of an element that holds this type. https://hl7.org/fhir/R4/json.html#choice */
export function jsonKey(element: ElementModel, type: string): string {
  return element.choice ? element.name + type.charAt(0).toUpperCase() + type.slice(1) : element.name
}
