// Logical models from StructureDefinitions. https://hl7.org/fhir/R4/structuredefinition.html#logical

import type { ElementModel, TypeModel } from '../definitions/model.ts'
import { openTypes } from '../definitions/r4.ts'
import { plainName } from './element-names.ts'
import { shown } from './problem.ts'
import { extended, isJson, type Json, objects, string } from './resource-parts.ts'
import { type LogicalModel, lastSegment, unversioned } from './structures.ts'

const SYSTEM = 'http://hl7.org/fhirpath/System.'
const FHIR_TYPE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-fhir-type'
const SUPPRESSED = 'http://hl7.org/fhir/tools/StructureDefinition/json-suppress-resourcetype'

/**
 * Returns the types of a StructureDefinition: a logical model, or a resource or datatype that R4 does not have. Reads its snapshot,
 * or else its differential. Throws an Error that names the problem. A logical model's JSON begins with `resourceType`, unless the
 * definition excludes it.
 */
export function modelFromStructureDefinition(resource: unknown): LogicalModel {
  if (!isJson(resource) || resource.resourceType !== 'StructureDefinition') {
    throw new Error('this is not a StructureDefinition')
  }
  const url = string(resource.url)
  if (!url) throw new Error('the StructureDefinition has no `url`')
  const definition = definitionFrom(resource, url)
  const { kind, base, abstract } = rootFrom(resource, url)
  const types = typesFrom(definition, definition.root, kind, base).map((type, index) =>
    index === 0 ? { ...type, abstract } : type,
  )
  return { url, type: definition.type, types, valueSets: new Map() }
}

/** The elements of a StructureDefinition, by where they stand. */
interface Definition {
  readonly url: string
  readonly type: string
  /** What all paths begin with: in most cases the type. */
  readonly root: string
  readonly children: ReadonlyMap<string, readonly Json[]>
}

function definitionFrom(resource: Json, url: string): Definition {
  const elements = elementsOf(resource)
  const root = string(elements[0]?.path)?.split('.')[0]
  if (!root) throw new Error(`${url}: the StructureDefinition has no elements`)
  const children = new Map<string, Json[]>()
  const seen = new Set<string>()
  for (const element of elements) {
    const path = string(element.path) ?? ''
    if (path !== root && !path.startsWith(`${root}.`))
      throw new Error(`${url}: the path ${shown(path)} does not begin with ${shown(root)}`)
    if (path === root || seen.has(path)) continue
    seen.add(path)
    const parent = path.slice(0, path.lastIndexOf('.'))
    children.set(parent, [...(children.get(parent) ?? []), element])
  }
  const type = plainName(lastSegment(string(resource.type) ?? root), url)
  return { url, type, root, children }
}

function elementsOf({ snapshot, differential }: Json): Json[] {
  const whole = isJson(snapshot) ? objects(snapshot.element) : []
  return whole.length > 0 || !isJson(differential) ? whole : objects(differential.element)
}

function rootFrom(resource: Json, url: string): Pick<TypeModel, 'kind' | 'base' | 'abstract'> {
  const { kind, derivation, baseDefinition } = resource
  if (derivation === 'constraint') throw new Error(`${url}: profiles are not supported; use a logical model`)
  if (kind !== 'logical' && kind !== 'resource' && kind !== 'complex-type')
    throw new Error(`${url}: the kind must be logical, resource or complex-type`)
  const base = string(baseDefinition)
  const suppressed = extended(resource, SUPPRESSED).some(({ valueBoolean }) => valueBoolean === true)
  return {
    kind: kind === 'complex-type' || (kind === 'logical' && suppressed) ? 'complex' : 'resource',
    base: base === undefined || lastSegment(base) === 'Base' ? undefined : unversioned(base),
    // Models are often called abstract because they are no resources; maps make values of them all the same.
    abstract: kind !== 'logical' && resource.abstract === true,
  }
}

/** The type at a path, and the backbones within it. */
function typesFrom(
  definition: Definition,
  path: string,
  kind: TypeModel['kind'],
  base: string | undefined,
): TypeModel[] {
  const kept = (definition.children.get(path) ?? []).filter(({ max }) => max !== '0')
  const elements = kept.map(each => elementFrom(definition, each))
  const type: TypeModel = {
    name: renamed(definition, path),
    kind,
    base,
    abstract: false,
    elements: new Map(elements.map(each => [each.name, each])),
    constraints: [],
  }
  const backbones = kept.filter(each => isBackbone(definition, each))
  return [type, ...backbones.flatMap(each => typesFrom(definition, string(each.path)!, 'backbone', backboneBase(each)))]
}

function elementFrom(definition: Definition, element: Json): ElementModel {
  const path = string(element.path)!
  const where = `${definition.url}: ${path}`
  const choice = path.endsWith('[x]')
  const types = typesOf(definition, element, where)
  if (types.length > 1 && !choice) throw new Error(`${where}: an element of several types has a name that ends in [x]`)
  return {
    name: plainName(path.slice(path.lastIndexOf('.') + 1, choice ? -3 : undefined), where),
    types,
    choice,
    min: element.min === undefined ? 0 : count(element.min, where),
    max: element.max === '*' ? Number.POSITIVE_INFINITY : count(element.max ?? '1', where),
    targets: targetsOf(element),
    requiredValueSet: requiredValueSetOf(element),
    summary: false,
    ...(string(element.short) !== undefined && { short: string(element.short)! }),
  }
}

function typesOf(definition: Definition, element: Json, where: string): string[] {
  if (isBackbone(definition, element)) return [renamed(definition, string(element.path)!)]
  const reference = string(element.contentReference)
  if (reference) return [referred(definition, reference, where)]
  const codes = new Set(
    codesOf(element).flatMap(code => (code === '*' ? openTypes : [code === 'Base' ? 'Element' : code])),
  )
  if (codes.size === 0) throw new Error(`${where}: the element has no type`)
  return [...codes]
}

const BACKBONES = new Set(['BackboneElement', 'Element', 'Base'])

/** An element whose parts are given here, and are not those of a datatype. */
function isBackbone({ children }: Definition, element: Json): boolean {
  return children.has(string(element.path)!) && codesOf(element).every(code => BACKBONES.has(code))
}

function backboneBase(element: Json): string | undefined {
  return codesOf(element).find(code => code !== 'Base')
}

function referred(definition: Definition, reference: string, where: string): string {
  const path = reference.slice(reference.indexOf('#') + 1).replace(/:[^.]*/g, '')
  const parent = path.slice(0, path.lastIndexOf('.'))
  const found = definition.children.get(parent)?.find(each => each.path === path)
  if (found && isBackbone(definition, found)) return renamed(definition, path)
  if (path === definition.root) return definition.type
  throw new Error(`${where}: ${shown(reference)} is not an element that has elements`)
}

function renamed({ root, type }: Definition, path: string): string {
  return type + path.slice(root.length)
}

/** Type codes as R4's types are called; those of other models may be URLs. */
function codesOf(element: Json): string[] {
  return objects(element.type).flatMap(type => {
    const [named] = extended(type, FHIR_TYPE)
    const code = string(named?.valueUrl) ?? string(named?.valueUri) ?? string(type.code)
    if (!code?.startsWith(SYSTEM)) return code ? [code] : []
    const name = code.slice(SYSTEM.length)
    return [name === 'Quantity' ? name : name.charAt(0).toLowerCase() + name.slice(1)]
  })
}

function targetsOf(element: Json): string[] | undefined {
  const reference = objects(element.type).find(({ code }) => code === 'Reference' || code === 'canonical')
  const profiles = Array.isArray(reference?.targetProfile) ? reference.targetProfile : []
  const targets = profiles.filter(each => typeof each === 'string').map(lastSegment)
  return targets.length === 0 || targets.includes('Resource') ? undefined : targets
}

function requiredValueSetOf({ binding }: Json): string | undefined {
  if (!isJson(binding) || binding.strength !== 'required') return undefined
  const url = string(binding.valueSet)
  return url && unversioned(url)
}

function count(value: unknown, where: string): number {
  if (/^\d{1,9}$/.test(String(value))) return Number(value)
  throw new Error(`${where}: ${shown(String(value))} is not a valid cardinality`)
}
