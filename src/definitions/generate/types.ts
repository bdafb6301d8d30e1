// Turns StructureDefinitions into compact rows: a type's own elements and invariants, what it inherits left to its base.

import type { ConstraintRow, ElementRow, TypeRow } from '../rows.ts'
import type { ElementDefinition, Source, StructureDefinition } from './source.ts'

const FHIR_TYPE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type'
const MAXIMUM = 'http://hl7.org/fhir/StructureDefinition/elementdefinition-maxValueSet'
const LANGUAGES = 'http://hl7.org/fhir/ValueSet/all-languages'
const REGEX = 'http://hl7.org/fhir/StructureDefinition/regex'
// The ids of data elements are cut at 64 characters, `de-` included, so longer paths overwrote each other there.
const LONGEST_PUBLISHED = 61
// An invariant of R5's EvidenceVariable.characteristic, which R4's has not.
const NOT_R4 = 'evv-1'
const PROFILE = 'http://hl7.org/fhir/StructureDefinition/'

/** The datatypes that `*` stands for: https://hl7.org/fhir/R4/datatypes.html#open */
export function openTypes(source: Source): string[] {
  const extension = source.structures.find(it => it.name === 'Extension')!
  return extension.snapshot.element.find(it => it.path === 'Extension.value[x]')!.type!.map(it => it.code)
}

export function typeRows(source: Source): TypeRow[] {
  const open = openTypes(source).join('|')
  const rows = source.structures.flatMap(structure => structureRows(structure, source, open))
  const byName = new Map(rows.map(row => [row[0], row]))
  return rows.map(row => withoutInherited(row, byName))
}

function structureRows(structure: StructureDefinition, source: Source, open: string): TypeRow[] {
  const elements = publishedOnly(structure, source)
  const parents = elements.filter(it => it.path === structure.name || isBackbone(it, elements))
  return parents.map(parent => {
    const children = elements.filter(it => parentPath(it.path) === parent.path && !isPrimitiveValue(it, structure))
    const row: TypeRow = [
      parent.path,
      kindOf(parent, structure),
      baseOf(parent, structure),
      structure.abstract && parent.path === structure.name ? 1 : 0,
      children.map(it => elementRow(it, structure, elements, open)),
      [
        ...constraintsOf(parent),
        ...children.filter(it => !isBackbone(it, elements)).flatMap(it => constraintsOf(it, nameOf(it))),
      ],
    ]
    const pattern = structure.kind === 'primitive-type' ? patternOf(elements) : undefined
    if (pattern) row.push(pattern)
    return row
  })
}

// Drops what Medplum added and puts back what it replaced (see source.ts).
function publishedOnly(structure: StructureDefinition, { published }: Source): ElementDefinition[] {
  if (structure.kind === 'primitive-type' || !structure.baseDefinition || /Element$/.test(structure.name)) {
    return structure.snapshot.element
  }
  const order = new Map([...published.keys()].map((path, index) => [path, index]))
  const known = [...published.keys()].filter(path => path.startsWith(`${structure.name}.`))
  const isParent = (path: string) => known.some(it => it.startsWith(`${path}.`))
  const kept = structure.snapshot.element.flatMap(element => {
    const inherited = element.base !== undefined && !element.base.path.startsWith(`${structure.name}.`)
    const trusted = inherited || element.contentReference || element.path.length > LONGEST_PUBLISHED
    if (element.path === structure.name || trusted || isParent(element.path)) return [element]
    const original = published.get(element.path)
    return original ? [original] : []
  })
  const paths = new Set(kept.map(it => it.path))
  const reachable = kept.filter(it => it.path === structure.name || ancestors(it.path).every(path => paths.has(path)))
  const missing = known.filter(path => !paths.has(path) && !/\.(id|extension|modifierExtension)$/.test(path))
  return missing.length === 0 ? reachable : restored(reachable, missing, published, order)
}

function restored(
  kept: ElementDefinition[],
  missing: string[],
  published: Map<string, ElementDefinition>,
  order: Map<string, number>,
): ElementDefinition[] {
  const parents = new Set(missing.map(parentPath))
  const isMoved = (it: ElementDefinition) => parents.has(parentPath(it.path)) && order.has(it.path)
  const moved = [...kept.filter(isMoved), ...missing.map(path => published.get(path)!)]
  return [...kept.filter(it => !isMoved(it)), ...moved.sort((a, b) => order.get(a.path)! - order.get(b.path)!)]
}

function ancestors(path: string): string[] {
  const parent = parentPath(path)
  return parent === '' ? [] : [...ancestors(parent), parent]
}

function isBackbone(element: ElementDefinition, all: ElementDefinition[]): boolean {
  return (
    /^(Backbone)?Element$/.test(element.type?.[0]?.code ?? '') && all.some(it => parentPath(it.path) === element.path)
  )
}

function isPrimitiveValue(element: ElementDefinition, structure: StructureDefinition): boolean {
  return structure.kind === 'primitive-type' && element.path === `${structure.name}.value`
}

function kindOf(parent: ElementDefinition, structure: StructureDefinition): TypeRow[1] {
  if (parent.path !== structure.name) return 'backbone'
  return structure.kind === 'primitive-type' ? 'primitive' : structure.kind === 'resource' ? 'resource' : 'complex'
}

function baseOf(parent: ElementDefinition, structure: StructureDefinition): string {
  if (parent.path !== structure.name) return parent.type![0]!.code
  return structure.baseDefinition?.replace(PROFILE, '') ?? ''
}

function elementRow(
  element: ElementDefinition,
  structure: StructureDefinition,
  all: ElementDefinition[],
  open: string,
): ElementRow {
  const types = typesOf(element, structure, all)
  const flags = (element.path.endsWith('[x]') ? 1 : 0) + (element.isSummary ? 2 : 0)
  const joined = types.join('|')
  const row: ElementRow = [
    nameOf(element),
    joined === open ? '*' : joined,
    flags,
    element.min,
    element.max === '*' ? -1 : Number(element.max),
  ]
  const targets = targetsOf(element)
  const binding = boundSet(element)?.replace(/\|.*$/, '')
  if (targets || binding) row.push(targets ?? '')
  if (binding) row.push(binding)
  return row
}

// Languages are bound to a preferred set with a maximum, BCP 47, which a code must be in.
function boundSet({ binding, type }: ElementDefinition): string | undefined {
  if (binding?.strength === 'required') return binding.valueSet
  const isCode = type?.length === 1 && type[0]!.code === 'code'
  const maximum = binding?.extension?.find(it => it.url === MAXIMUM)?.valueCanonical
  return isCode && maximum === LANGUAGES ? maximum : undefined
}

function typesOf(element: ElementDefinition, structure: StructureDefinition, all: ElementDefinition[]): string[] {
  // R4 says string; https://hl7.org/fhir/R4/resource.html says id.
  if (structure.kind === 'resource' && element.path === `${structure.name}.id`) return ['id']
  if (element.contentReference) return [element.contentReference.slice(1)]
  if (isBackbone(element, all)) return [element.path]
  return element.type!.map(it => {
    const fhirType = it.extension?.find(extension => extension.url === FHIR_TYPE)?.valueUrl
    return fhirType ?? it.code.replace('http://hl7.org/fhirpath/System.String', 'string')
  })
}

// A choice of Reference and canonical has one list of targets: that of the references.
function targetsOf(element: ElementDefinition): string | undefined {
  const typed =
    element.type?.find(it => it.code === 'Reference' && it.targetProfile) ?? element.type?.find(it => it.targetProfile)
  const names = typed?.targetProfile?.map(it => it.replace(PROFILE, ''))
  return names && !names.includes('Resource') ? names.join('|') : undefined
}

function constraintsOf(element: ElementDefinition, name?: string): ConstraintRow[] {
  return (element.constraint ?? [])
    .filter(it => it.key !== NOT_R4)
    .map(it => {
      const row: ConstraintRow = [it.key, it.severity === 'error' ? 1 : 0, it.human, it.expression]
      if (name) row.push(name)
      return row
    })
}

function patternOf(elements: ElementDefinition[]): string | undefined {
  const value = elements.find(it => it.path.endsWith('.value'))
  return value?.type?.[0]?.extension?.find(it => it.url === REGEX)?.valueString
}

function withoutInherited(row: TypeRow, byName: Map<string, TypeRow>): TypeRow {
  const [name, kind, base, abstract, elements, constraints, ...pattern] = row
  const inherited = lineage(base, byName)
  const known = new Map(inherited.flatMap(it => it[4]).map(it => [it[0], JSON.stringify(it)]))
  const keys = new Set(inherited.flatMap(it => it[5]).map(it => it[0]))
  const own = constraints.filter(it => !keys.has(it[0]) && !isOfElementType(it, elements, byName))
  return [name, kind, base, abstract, elements.filter(it => known.get(it[0]) !== JSON.stringify(it)), own, ...pattern]
}

function isOfElementType(constraint: ConstraintRow, elements: ElementRow[], byName: Map<string, TypeRow>): boolean {
  const element = elements.find(it => it[0] === constraint[4])
  const types = element?.[1].split('|') ?? []
  return types.some(type =>
    lineage(type, byName).some(it => it[5].some(other => other[0] === constraint[0] && !other[4])),
  )
}

function lineage(name: string, byName: Map<string, TypeRow>): TypeRow[] {
  const row = byName.get(name)
  return row ? [...lineage(row[2], byName), row] : []
}

function nameOf(element: ElementDefinition): string {
  return element.path.slice(element.path.lastIndexOf('.') + 1).replace('[x]', '')
}

function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')))
}
