// Expands the value sets of required bindings to their codes.

import type { TypeRow, ValueSetRows } from '../rows.ts'
import type { Concept, Source, ValueSet, ValueSetPart } from './source.ts'

// Bound but not shipped. https://terminology.hl7.org/ValueSet/v3-ConfidentialityClassification
const BY_HAND: Record<string, [string, string][]> = {
  'http://terminology.hl7.org/ValueSet/v3-ConfidentialityClassification': [
    ['http://terminology.hl7.org/CodeSystem/v3-Confidentiality', 'U L M N R V'],
  ],
}

// Code systems outside FHIR: their sets stay out of the file, so their codes stay unchecked.
const OPEN_SYSTEMS = new Set([
  'urn:ietf:bcp:13',
  'urn:ietf:bcp:47',
  'http://unitsofmeasure.org',
  'urn:iso:std:iso:4217',
])

// LOINC answers of one element, MolecularSequence.structureVariant.variantType.
const NOT_SHIPPED = new Set(['http://loinc.org/vs/LL379-9'])

export function valueSetRows(source: Source, types: TypeRow[]): ValueSetRows {
  const urls = new Set(types.flatMap(type => type[4].map(element => element[6]).filter(url => url !== undefined)))
  const rows = [...urls].sort().map(url => [url, rowOf(url, source)] as const)
  return Object.fromEntries(rows.filter((row): row is [string, [string, string][]] => row[1] !== undefined))
}

function rowOf(url: string, source: Source): [string, string][] | undefined {
  if (BY_HAND[url]) return BY_HAND[url]
  const set = source.valueSets.get(url)
  if (!set && NOT_SHIPPED.has(url)) return undefined
  if (!set) throw new Error(`value set ${url} is not in the source`)
  const codes = expand(set, source)
  return codes && [...codes].map(([system, list]) => [system, joined(list)])
}

function expand(set: ValueSet, source: Source): Map<string, Set<string>> | undefined {
  const codes = new Map<string, Set<string>>()
  for (const part of set.compose?.include ?? []) {
    if (part.filter || part.valueSet || set.compose?.exclude) throw new Error(`${set.url} needs a richer expansion`)
    const list = part.concept?.map(it => it.code) ?? wholeSystem(part, source)
    if (!list) return undefined
    const known = codes.get(part.system!) ?? new Set()
    for (const code of list) known.add(code)
    codes.set(part.system!, known)
  }
  return codes
}

function wholeSystem(part: ValueSetPart, source: Source): string[] | undefined {
  if (OPEN_SYSTEMS.has(part.system!)) return undefined
  const system = source.codeSystems.get(part.system!)
  if (system?.content !== 'complete') throw new Error(`code system ${part.system} is not in the source`)
  return flat(system.concept ?? [])
}

function flat(concepts: Concept[]): string[] {
  return concepts.flatMap(it => [it.code, ...flat(it.concept ?? [])])
}

function joined(codes: Set<string>): string {
  for (const code of codes) if (code.includes(' ')) throw new Error(`the code '${code}' holds a space`)
  return [...codes].join(' ')
}
