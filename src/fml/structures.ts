// The types that maps can name: those of R4 and those of logical models. https://hl7.org/fhir/R4/structuredefinition.html

import type { ElementModel, TypeModel } from '../definitions/model.ts'
import { typeModel, typeNames, valueSetSystems, valueSetUrls } from '../definitions/r4.ts'
import type { Model } from '../fhirpath/types.ts'
import { shown } from './problem.ts'

/** The types a map can name. */
export interface Structures extends Model {
  typeModel(name: string): TypeModel | undefined
  /**
   * Returns the type of a canonical URL, regardless of its version: `http://hl7.org/fhir/StructureDefinition/Patient` is Patient.
   */
  byUrl(url: string): string | undefined
  /** All URLs, for suggestions. */
  readonly urls: readonly string[]
  /** Codes of a required value set by system, `''` where a model lists bare codes; undefined when not known here. */
  valueSet(url: string): ReadonlyMap<string, ReadonlySet<string>> | undefined
  /** The URLs of these value sets, for suggestions. */
  valueSetUrls(): readonly string[]
}

/**
 * What is not FHIR, described in the way of FHIR. The types have their own elements; `structures` adds those of their
 * bases. Where they name other types, they may do so by URL.
 *
 * The first type is that of the whole record. It has the kind `resource` if its JSON begins with `resourceType`.
 */
export interface LogicalModel {
  readonly url: string
  readonly type: string
  readonly types: readonly TypeModel[]
  /** Codes of the value sets that the model itself defines. */
  readonly valueSets: ReadonlyMap<string, readonly string[]>
}

/**
 * R4 and these models. Throws an Error that names everything that is wrong: what has the name or URL of something else,
 * a type that does not exist, a type that is its own base.
 */
export function structures(models: readonly LogicalModel[]): Structures {
  const problems: string[] = []
  const urls = new Map(R4_URLS)
  const named = new Map<string, TypeModel>()
  for (const model of models) {
    register(model, urls, named, problems)
  }
  const byUrl = (url: string) => urls.get(unversioned(url).replace(/^(http:\/\/hl7\.org\/fhir\/)4\.0\//, '$1'))
  const nameOf = (type: string) => (type.includes(':') ? (byUrl(type) ?? lastSegment(type)) : type)
  const own = new Map([...named].map(([name, type]) => [name, resolved(type, nameOf)]))
  for (const type of own.values()) problems.push(...unknownTypes(type, own), ...circle(type, own))
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const complete = new Map([...own].map(([name, type]) => [name, withInherited(type, own)]))
  const valueSets = new Map(models.flatMap(model => [...model.valueSets]).map(([url, codes]) => [url, bare(codes)]))
  return {
    typeModel: name => complete.get(name) ?? typeModel(name),
    byUrl,
    urls: [...urls.keys()],
    valueSetUrls: () => [...valueSets.keys(), ...valueSetUrls()],
    valueSet: url => valueSets.get(unversioned(url)) ?? valueSetSystems(unversioned(url)),
  }
}

/** The part of a canonical URL before its version. */
export function unversioned(url: string): string {
  return url.split('|', 1)[0]!
}

/** What a URL ends in: often the name of the type it stands for. */
export function lastSegment(url: string): string {
  return unversioned(url).split('/').at(-1)!
}

const R4_URLS: ReadonlyMap<string, string> = new Map(
  typeNames
    .filter(name => !name.includes('.'))
    .map(name => [`http://hl7.org/fhir/StructureDefinition/${name}`, name] as const),
)

function register(
  model: LogicalModel,
  urls: Map<string, string>,
  named: Map<string, TypeModel>,
  problems: string[],
): void {
  if (urls.has(model.url)) {
    problems.push(`${model.url}: this is already the URL of ${shown(urls.get(model.url)!)}`)
    return
  }
  urls.set(model.url, model.type)
  for (const type of model.types) {
    if (typeModel(type.name)) problems.push(`${model.url}: ${shown(type.name)} is the name of a type of R4`)
    else if (named.has(type.name)) problems.push(`${model.url}: there is another type ${shown(type.name)}`)
    else named.set(type.name, type)
  }
}

type Types = ReadonlyMap<string, TypeModel>

function resolved(type: TypeModel, nameOf: (type: string) => string): TypeModel {
  const resolvedElement = (element: ElementModel) => ({ ...element, types: element.types.map(nameOf) })
  return {
    ...type,
    base: type.base && nameOf(type.base),
    elements: new Map([...type.elements].map(([name, element]) => [name, resolvedElement(element)])),
  }
}

function unknownTypes(type: TypeModel, own: Types): string[] {
  const exists = (name: string) => own.has(name) || typeModel(name) !== undefined
  const unknown = [...type.elements.values()].flatMap(({ name, types }) =>
    types.filter(each => !exists(each)).map(each => `${type.name}.${name}: there is no type ${shown(each)}`),
  )
  return type.base === undefined || exists(type.base)
    ? unknown
    : [`${type.name}: there is no type ${shown(type.base)} to derive from`, ...unknown]
}

function circle(type: TypeModel, own: Types): string[] {
  const seen = new Set<string>()
  for (let name: string | undefined = type.name; name; name = own.get(name)?.base) {
    if (seen.has(name)) return [`${type.name}: the type derives from itself`]
    seen.add(name)
  }
  return []
}

function withInherited(type: TypeModel, own: Types): TypeModel {
  if (type.base === undefined) return type
  const parent = own.get(type.base)
  const base = parent ? withInherited(parent, own) : typeModel(type.base)!
  return {
    ...type,
    elements: new Map([...base.elements, ...type.elements]),
    constraints: [...base.constraints, ...type.constraints],
  }
}

function bare(codes: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map([['', new Set(codes)]])
}
