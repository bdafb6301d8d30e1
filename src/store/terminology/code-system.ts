// A stored CodeSystem as a graph of concepts: nesting, and the properties `parent` and `child`, are its hierarchy.
// https://hl7.org/fhir/R4/codesystem.html#hierarchy
import { Failure } from '../../lib/failure.ts'
import { isJsonNumber, type JsonObject, numberOf } from '../../lib/json.ts'
import { objects, text } from '../values.ts'
import { type Library, unworkable } from './library.ts'

export interface Concept {
  readonly code: string
  readonly display: string | undefined
  /** The concept as it stands in the resource. */
  readonly source: JsonObject
  readonly parents: Set<string>
  readonly children: Set<string>
}

export interface CodeSystem {
  readonly url: string
  readonly version: string | undefined
  readonly resource: JsonObject
  /** In the order of the resource, parents before what is nested in them. */
  readonly concepts: ReadonlyMap<string, Concept>
  /** Properties that are true of concepts which cannot be selected. */
  readonly abstractBy: ReadonlySet<string>
  /** Steps that it takes to look at all concepts and their properties. */
  readonly steps: number
}

const graphs = new WeakMap<JsonObject, CodeSystem>()

/** Reads the resource; the same graph for the same object. */
export function codeSystemOf(resource: JsonObject): CodeSystem {
  const known = graphs.get(resource)
  if (known) return known
  const concepts = flatten(resource)
  for (const concept of concepts.values()) linkByProperties(concept, concepts)
  const steps = concepts.values().reduce((sum, concept) => sum + stepsOf(concept), 0)
  const [url, version] = [text(resource['url']) ?? '', text(resource['version'])]
  const system = { url, version, resource, concepts, abstractBy: abstractIn(resource), steps }
  graphs.set(resource, system)
  return system
}

/** The system with its codes. @throws Failure NOT_FOUND, or VALIDATION_FAILED if it is stored without them. */
export async function codeSystem(library: Library, canonical: string): Promise<CodeSystem> {
  return mustHaveCodes(codeSystemOf(await library.byUrl('CodeSystem', canonical)))
}

/** Returns the system. @throws Failure VALIDATION_FAILED if it has no codes */
export function mustHaveCodes(system: CodeSystem): CodeSystem {
  if (system.concepts.size > 0 && system.resource['content'] !== 'supplement') return system
  throw unworkable(`The CodeSystem ${system.url} is stored without its codes (content: ${system.resource['content']}).`)
}

/**
 * Returns a concept; undefined if the system does not have the code.
 * @throws Failure VALIDATION_FAILED if only some of its codes are stored, so that nobody can tell.
 */
export function knownConcept({ url, resource, concepts }: CodeSystem, code: string): Concept | undefined {
  const concept = concepts.get(code)
  if (concept || resource['content'] === 'complete') return concept
  throw unworkable(
    `The CodeSystem ${url} is stored with some of its codes only (content: ${resource['content']}), and "${code.slice(0, 100)}" is not among these: it may be a code or none.`,
    'incomplete',
  )
}

/** Returns a concept of the system. @throws Failure NOT_FOUND */
export function conceptIn(system: CodeSystem, code: string): Concept {
  const concept = system.concepts.get(code)
  if (concept) return concept
  throw new Failure('NOT_FOUND', `The CodeSystem ${system.url} has no code "${code.slice(0, 100)}".`)
}

// Without recursion: a client decides how deep a resource nests.
function flatten(resource: JsonObject): Map<string, Concept> {
  const concepts = new Map<string, Concept>()
  const waiting = objects(resource['concept'])
    .map(source => ({ source, parent: undefined as Concept | undefined }))
    .reverse()
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { source, parent } = next
    const code = text(source['code'])
    if (code === undefined) continue
    const concept = concepts.get(code) ?? {
      code,
      display: text(source['display']),
      source,
      parents: new Set<string>(),
      children: new Set<string>(),
    }
    concepts.set(code, concept)
    if (parent) link(parent, concept)
    for (const child of objects(source['concept']).reverse()) waiting.push({ source: child, parent: concept })
  }
  return concepts
}

function link(parent: Concept, child: Concept): void {
  parent.children.add(child.code)
  child.parents.add(parent.code)
}

function linkByProperties(concept: Concept, concepts: ReadonlyMap<string, Concept>): void {
  for (const { code, value } of propertiesOf(concept)) {
    const other = code === 'parent' || code === 'child' ? concepts.get(String(value)) : undefined
    if (other && code === 'parent') link(other, concept)
    if (other && code === 'child') link(concept, other)
  }
}

/** Steps that it takes to look at a concept and its properties. */
export function stepsOf({ source }: Concept): number {
  const properties = source['property']
  return 1 + (Array.isArray(properties) ? properties.length : 0)
}

export interface Property {
  readonly code: string
  /** The JSON member that holds the value, such as `valueCode`. */
  readonly member: string
  readonly value: unknown
}

/** The properties that a concept states. */
export function propertiesOf(concept: Concept): Property[] {
  return objects(concept.source['property']).flatMap(property => {
    const code = text(property['code'])
    const member = Object.keys(property).find(name => /^value[A-Z]/.test(name))
    return code !== undefined && member ? [{ code, member, value: property[member] }] : []
  })
}

/** A property's value as a filter writes it. */
export function valueText(value: unknown): string {
  if (isJsonNumber(value)) return String(numberOf(value))
  const [coding] = objects(value)
  return coding ? String(coding['code'] ?? '') : String(value)
}

/** True if the system marks the concept as no longer in use. */
export function isInactive(concept: Concept): boolean {
  return propertiesOf(concept).some(
    ({ code, value }) =>
      (code === 'inactive' && value === true) || (code === 'status' && ['retired', 'inactive'].includes(String(value))),
  )
}

const notSelectable = 'http://hl7.org/fhir/concept-properties#notSelectable'

/** The property `notSelectable`, and those that the system declares to mean that. */
function abstractIn(resource: JsonObject): Set<string> {
  const declared = objects(resource['property']).filter(({ uri }) => uri === notSelectable)
  return new Set(['notSelectable', ...declared.map(({ code }) => String(code))])
}

/** True if the system says that the concept cannot be selected. */
export function isAbstract({ abstractBy }: CodeSystem, concept: Concept): boolean {
  return propertiesOf(concept).some(({ code, value }) => value === true && abstractBy.has(code))
}

/** The codes below (or above) a code, itself included; a code that the system does not have stands for itself alone. */
export function closure(system: CodeSystem, code: string, way: 'children' | 'parents'): Set<string> {
  const found = new Set([code])
  for (const each of found) for (const next of system.concepts.get(each)?.[way] ?? []) found.add(next)
  return found
}
