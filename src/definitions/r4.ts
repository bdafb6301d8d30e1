// FHIR R4 as data: types, required value sets, search parameters and compartments, read from the JSON beside
// this file when first asked for. https://hl7.org/fhir/R4/

import { readFileSync } from 'node:fs'
import type { ConstraintModel, ElementModel, SearchParamModel, SearchParamType, TypeModel } from './model.ts'
import type {
  CodeSystemRows,
  ConstraintRow,
  ElementRow,
  SearchFile,
  SearchParamRow,
  TypeRow,
  TypesFile,
  ValueSetRows,
  WordRows,
} from './rows.ts'

const typesFile = read<TypesFile>('r4-types.json')
const compartmentsFile = read<Record<string, Record<string, string[]>>>('r4-compartments.json')
const rows = new Map(typesFile.types.map(row => [row[0], row]))
const models = new Map<string, TypeModel>()
const jsonKeys = new Map<string, Map<string, JsonKey>>()
const params = new Map<string, ReadonlyMap<string, SearchParamModel>>()
const valueSets = new Map<string, Map<string, Set<string>>>()
let searchFile: SearchFile | undefined
const codeSystems = new Map<string, ReadonlySet<string>>()
let valueSetRows: ValueSetRows | undefined
let codeSystemRows: CodeSystemRows | undefined
let wordRows: WordRows | undefined

/** An element as it stands in JSON: `valueQuantity` is the element `value` holding a Quantity. */
export interface JsonKey {
  readonly element: ElementModel
  readonly type: string
}

/** The concrete resource types, sorted. */
export const resourceTypes: readonly string[] = typesFile.types
  .filter(([, kind, , abstract]) => kind === 'resource' && !abstract)
  .map(([name]) => name)
  .sort()

const resourceTypeSet = new Set(resourceTypes)

/** Every type there is, backbones (`Patient.contact`) and abstract types included. */
export const typeNames: readonly string[] = [...rows.keys()]

/** The datatypes of an open choice such as `Extension.value[x]`. */
export const openTypes: readonly string[] = typesFile.open

/** The resource type, datatype, backbone (`Patient.contact`) or primitive of this name. */
export function typeModel(name: string): TypeModel | undefined {
  const known = models.get(name)
  if (known) return known
  const row = rows.get(name)
  if (!row) return undefined
  const model = toModel(row)
  models.set(name, model)
  return model
}

/**
 * What an element of a type is, in the few words of the specification: `Patient`, `birthDate` is `The date of birth for the
 * individual`. Undefined for types that are not of R4.
 */
export function elementWords(type: string, element: string): string | undefined {
  wordRows ??= read<WordRows>('r4-words.json')
  for (let name: string | undefined = type; name; name = rows.get(name)?.[2]) {
    const index = rows.get(name)?.[4].findIndex(([own]) => own === element) ?? -1
    const words = index < 0 ? undefined : wordRows[name]?.[index]
    if (words) return words
  }
  return undefined
}

/** True if a resource of this type can exist: `Patient`, but not `DomainResource` or `HumanName`. */
export function isResourceType(name: string): boolean {
  return resourceTypeSet.has(name)
}

/** True if `type` is `base` or derives from it, directly or not. */
export function isSubtype(type: string, base: string): boolean {
  for (let name: string | undefined = type; name; name = rows.get(name)?.[2]) if (name === base) return true
  return false
}

/** The element a JSON key of a type stands for, and the type of its value. Keys like `_birthDate` are not known here. */
export function elementByJsonKey(type: string, jsonKey: string): JsonKey | undefined {
  let keys = jsonKeys.get(type)
  if (!keys) {
    keys = new Map([...(typeModel(type)?.elements.values() ?? [])].flatMap(keysOf))
    jsonKeys.set(type, keys)
  }
  return keys.get(jsonKey)
}

/** The JSON key of an element holding this type: `valueQuantity`, or the plain name where there is no choice. */
export function jsonKey(element: ElementModel, type: string): string {
  return element.choice ? element.name + type.charAt(0).toUpperCase() + type.slice(1) : element.name
}

/** The search parameters of a resource type by code, those of all resources (`_id`, `_lastUpdated`…) included. */
export function searchParams(type: string): ReadonlyMap<string, SearchParamModel> {
  const known = params.get(type)
  if (known) return known
  searchFile ??= read<SearchFile>('r4-search-parameters.json')
  const found = new Map<string, SearchParamModel>()
  for (const base of lineage(type)) {
    for (const row of searchFile.params[base] ?? []) found.set(row[0], toSearchParam(row, base, type))
  }
  params.set(type, found)
  return found
}

/**
 * Whether a required value set holds a code; without a system, whether any of its systems has it. Undefined when the
 * set is not known here: its codes come from outside FHIR (MIME types, UCUM, currencies).
 */
export function valueSetHas(url: string, code: string, system?: string): boolean | undefined {
  const set = valueSets.get(url) ?? loadValueSet(url)
  if (!set) return undefined
  if (system !== undefined) return set.get(system)?.has(code) ?? false
  for (const codes of set.values()) if (codes.has(code)) return true
  return false
}

/** The URLs of the required value sets that are known here. */
export function valueSetUrls(): readonly string[] {
  valueSetRows ??= read<ValueSetRows>('r4-value-sets.json')
  return Object.keys(valueSetRows)
}

/** The codes of a required value set in definition order; undefined when the set is not known here. */
export function valueSetCodes(url: string): readonly string[] | undefined {
  const set = valueSets.get(url) ?? loadValueSet(url)
  return set && [...set.values()].flatMap(codes => [...codes])
}

/** A required value set as published: its codes by system; undefined when the set is not known here. */
export function valueSetSystems(url: string): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  return valueSets.get(url) ?? loadValueSet(url)
}

/** The codes of a code system that R4 carries as a whole; undefined where it does not. */
export function codeSystemCodes(url: string): ReadonlySet<string> | undefined {
  const known = codeSystems.get(url)
  if (known) return known
  codeSystemRows ??= read<CodeSystemRows>('r4-code-systems.json')
  const codes = Object.hasOwn(codeSystemRows, url) ? codeSystemRows[url]! : ''
  if (codes === '') return undefined
  const found = new Set(codes.split('|'))
  codeSystems.set(url, found)
  return found
}

/** The URLs of the code systems that R4 is published with. */
export function codeSystemUrls(): readonly string[] {
  codeSystemRows ??= read<CodeSystemRows>('r4-code-systems.json')
  return Object.keys(codeSystemRows)
}

/** The types that have compartments: `Patient`, `Encounter`… (https://hl7.org/fhir/R4/compartmentdefinition.html). */
export const compartments: readonly string[] = Object.keys(compartmentsFile)

/** The search parameters that put a resource of `type` into the compartment of an `of`; none for types outside it. */
export function compartmentParams(of: string, type: string): readonly string[] {
  const members = compartmentsFile[of]
  return members && Object.hasOwn(members, type) ? members[type]! : []
}

function toModel([name, kind, base, abstract, elements, constraints, pattern]: TypeRow): TypeModel {
  const parent = base ? typeModel(base) : undefined
  const all = new Map(parent?.elements)
  for (const row of elements) all.set(row[0], toElement(row))
  return {
    name,
    kind,
    base: base || undefined,
    abstract: abstract === 1,
    elements: all,
    constraints: [...(parent?.constraints ?? []), ...constraints.map(toConstraint)],
    pattern: pattern === undefined ? undefined : `^(?:${pattern})$`,
  }
}

function toElement([name, types, flags, min, max, targets, requiredValueSet]: ElementRow): ElementModel {
  return {
    name,
    types: types === '*' ? typesFile.open : types.split('|'),
    choice: (flags & 1) !== 0,
    min,
    max: max === -1 ? Number.POSITIVE_INFINITY : max,
    targets: targets ? targets.split('|') : undefined,
    requiredValueSet,
    summary: (flags & 2) !== 0,
  }
}

function toConstraint([key, error, human, expression, element]: ConstraintRow): ConstraintModel {
  return { key, severity: error ? 'error' : 'warning', human, expression, element }
}

function toSearchParam(row: SearchParamRow, base: string, type: string): SearchParamModel {
  const [code, url, kind, description, expression, targets, components] = row
  return {
    code,
    url: canonical(url),
    type: kind as SearchParamType,
    expression: base === type ? expression : expression?.replace(new RegExp(`^${base}\\b`), type),
    targets: targets ? targets.split('|') : undefined,
    components: components && pairs(components),
    description,
  }
}

function pairs(list: readonly string[]): { definition: string; expression: string }[] {
  const found = []
  for (let i = 0; i < list.length; i += 2) found.push({ definition: canonical(list[i]!), expression: list[i + 1]! })
  return found
}

function canonical(url: string): string {
  return url.startsWith('http') ? url : `http://hl7.org/fhir/SearchParameter/${url}`
}

function keysOf(element: ElementModel): [string, JsonKey][] {
  return element.types.map(type => [jsonKey(element, type), { element, type }])
}

function loadValueSet(url: string): Map<string, Set<string>> | undefined {
  valueSetRows ??= read<ValueSetRows>('r4-value-sets.json')
  if (!Object.hasOwn(valueSetRows, url)) return undefined
  const set = new Map(valueSetRows[url]!.map(([system, codes]) => [system, new Set(codes.split(' '))]))
  valueSets.set(url, set)
  return set
}

function lineage(type: string): string[] {
  const base = rows.get(type)?.[2]
  return base ? [...lineage(base), type] : [type]
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}
