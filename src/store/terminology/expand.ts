// What a value set holds: its stored expansion, or what its definition selects. https://hl7.org/fhir/R4/valueset.html#compositions
import { isJsonNumber, isObject, type JsonObject, numberOf } from '../../lib/json.ts'
import { objects, text } from '../values.ts'
import { type CodeSystem, type Concept, codeSystem, codeSystemOf, isAbstract, isInactive } from './code-system.ts'
import { type Filter, filterOf } from './filters.ts'
import { type Library, unworkable } from './library.ts'

/** A code of a value set. */
export interface Member {
  readonly system: string
  readonly version: string | undefined
  readonly code: string
  readonly display: string | undefined
  readonly inactive: boolean
  /** Other names and names in other languages, as the resources have them. Absent if there are none. */
  readonly designations?: readonly JsonObject[]
  /** True for a concept that groups others and is not meant to be selected. */
  readonly abstract?: boolean
}

/** By memberKey, in the order of the definition. */
export type Members = Map<string, Member>

export const memberKey = (system: string, code: string): string => `${system}|${code}`

/** Most codes that a value set, or a part of one, is expanded to. */
export const mostMembers = 10_000

function add(members: Members, member: Member, of: string): void {
  const key = memberKey(member.system, member.code)
  if (members.has(key)) return
  members.set(key, member)
  if (members.size > mostMembers)
    throw unworkable(`${of} contains more than ${mostMembers} codes, which is over the limit.`, 'too-costly')
}

const expanded = new WeakMap<JsonObject, Promise<Members>>()

/** Most parts of one definition, and filters of one part. */
const mostParts = 500
const mostFilters = 10

/**
 * The codes of a value set; worked out once for the same object, however many import it.
 * @param trail the value sets that are being expanded already, so that one that imports itself is found out.
 * @throws Failure NOT_FOUND for what it draws upon and is not stored, VALIDATION_FAILED for what cannot be worked out.
 */
export async function membersOf(
  library: Library,
  valueSet: JsonObject,
  trail: readonly JsonObject[] = [],
): Promise<Members> {
  if (trail.includes(valueSet)) throw unworkable(`${nameOf(valueSet)} imports itself.`, 'invalid')
  const known = expanded.get(valueSet) ?? expandSet(library, valueSet, trail)
  expanded.set(valueSet, known)
  return known
}

/** What messages call a value set. */
export const nameOf = (valueSet: JsonObject): string =>
  `The ValueSet ${text(valueSet['url']) ?? text(valueSet['id']) ?? 'given'}`

async function expandSet(library: Library, valueSet: JsonObject, trail: readonly JsonObject[]): Promise<Members> {
  const name = nameOf(valueSet)
  const ready = await storedExpansion(library, valueSet, name)
  if (ready) return ready
  const { include, exclude, allowsInactive } = definitionOf(valueSet, name)
  const path = [...trail, valueSet]
  const members: Members = new Map()
  for (const part of include)
    for (const member of (await partOf(library, part, path, name)).values()) add(members, member, name)
  for (const part of exclude) for (const key of (await partOf(library, part, path, name)).keys()) members.delete(key)
  if (!allowsInactive) for (const [key, { inactive }] of members) if (inactive) members.delete(key)
  return members
}

interface Definition {
  readonly include: readonly JsonObject[]
  readonly exclude: readonly JsonObject[]
  readonly allowsInactive: boolean
}

/** The definition of a value set. @throws Failure VALIDATION_FAILED if it has none, or one of too many parts. */
export function definitionOf(valueSet: JsonObject, name: string): Definition {
  const compose = valueSet['compose']
  if (!isObject(compose)) throw unworkable(`${name} has neither compose nor expansion.`, 'invalid')
  const [include, exclude] = [objects(compose['include']), objects(compose['exclude'])]
  if (include.length + exclude.length > mostParts)
    throw unworkable(`${name} has more than ${mostParts} parts.`, 'too-costly')
  return { include, exclude, allowsInactive: compose['inactive'] !== false }
}

const stored = new WeakMap<JsonObject, Promise<Members | undefined>>()

/**
 * Returns the expansion that came with the resource, read once for the same object; undefined if there is none, or only a page of one
 * in addition to a definition.
 */
export function storedExpansion(library: Library, valueSet: JsonObject, name: string): Promise<Members | undefined> {
  const known = stored.get(valueSet) ?? readExpansion(library, valueSet, name)
  stored.set(valueSet, known)
  return known
}

async function readExpansion(library: Library, valueSet: JsonObject, name: string): Promise<Members | undefined> {
  const expansion = valueSet['expansion']
  if (!isObject(expansion)) return undefined
  const members: Members = new Map()
  let listed = 0
  const waiting = objects(expansion['contains']).reverse()
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    listed++
    for (const inner of objects(each['contains']).reverse()) waiting.push(inner)
    const [system, code] = [text(each['system']), text(each['code'])]
    if (system === undefined || code === undefined || each['abstract'] === true) continue
    const [version, display] = [text(each['version']), text(each['display'])]
    add(members, { system, version, code, display, inactive: each['inactive'] === true, ...designated(each) }, name)
  }
  await library.work(listed)
  const total = isJsonNumber(expansion['total']) ? numberOf(expansion['total']) : listed
  if (total <= listed && !isNarrowed(expansion)) return members
  if (isObject(valueSet['compose'])) return undefined
  throw unworkable(`${name} is stored with ${listed} of its codes only, and without a definition.`, 'incomplete')
}

/** Parameters of an expansion that leave codes out. */
const narrowing: ReadonlySet<unknown> = new Set(['filter', 'activeOnly', 'excludeNotForUI', 'offset'])

/** True for an expansion that was made of a part of the codes, or is a later page. */
function isNarrowed({ offset, parameter }: JsonObject): boolean {
  const isSet = ({ name, valueBoolean, valueInteger }: JsonObject): boolean =>
    narrowing.has(name) && valueBoolean !== false && !isZero(valueInteger)
  return (isJsonNumber(offset) && !isZero(offset)) || objects(parameter).some(isSet)
}

const isZero = (value: unknown): boolean => isJsonNumber(value) && numberOf(value) === 0

/** One include or exclude: what its system part selects and all its value sets hold alike. */
async function partOf(
  library: Library,
  part: JsonObject,
  trail: readonly JsonObject[],
  name: string,
): Promise<Members> {
  const system = text(part['system'])
  let members = system === undefined ? undefined : await systemPart(library, part, system, name)
  for (const canonical of importsOf(part)) {
    const imported = await membersOf(library, await library.byUrl('ValueSet', canonical), trail)
    await library.work((members ?? imported).size + 1)
    members = members ? new Map([...members].filter(([key]) => imported.has(key))) : imported
  }
  if (!members) throw unworkable(`${name} has a part with neither a system nor a value set.`, 'invalid')
  return members
}

async function systemPart(library: Library, part: JsonObject, url: string, name: string): Promise<Members> {
  const version = text(part['version'])
  const canonical = version === undefined ? url : `${url}|${version}`
  const listed = objects(part['concept'])
  if (listed.length > 0) return listedCodes(library, listed, canonical, { url, version }, name)
  const system = await codeSystem(library, canonical)
  const filters = await filtersOf(library, system, part, name)
  await library.work(system.steps * (1 + filters.length))
  const members: Members = new Map()
  for (const concept of system.concepts.values())
    if (filters.every(({ holds }) => holds(concept))) add(members, memberOf(system, concept), name)
  return members
}

/** The value sets that a part is limited to. */
export const importsOf = (part: JsonObject): string[] =>
  Array.isArray(part['valueSet']) ? part['valueSet'].map(String) : []

const ready = new WeakMap<JsonObject, Promise<Filter[]>>()

/** The filters of a part, each as a question to a concept of its system; made ready once, however many codes are asked about. */
export function filtersOf(library: Library, system: CodeSystem, part: JsonObject, name: string): Promise<Filter[]> {
  const known = ready.get(part) ?? readFilters(library, system, part, name)
  ready.set(part, known)
  return known
}

async function readFilters(library: Library, system: CodeSystem, part: JsonObject, name: string): Promise<Filter[]> {
  const filters = objects(part['filter'])
  if (filters.length > mostFilters)
    throw unworkable(`${name} has a part with more than ${mostFilters} filters.`, 'too-costly')
  const made: Filter[] = []
  for (const each of filters) {
    const filter = filterOf(system, each)
    await library.work(filter.steps)
    made.push(filter)
  }
  return made
}

export const memberOf = (system: CodeSystem, concept: Concept): Member => ({
  system: system.url,
  version: system.version,
  code: concept.code,
  display: concept.display,
  inactive: isInactive(concept),
  ...designated(concept.source),
  ...(isAbstract(system, concept) && { abstract: true }),
})

/** The designations of concepts, one after the other. */
export function designated(...concepts: readonly (JsonObject | undefined)[]): Pick<Member, 'designations'> {
  const designations = concepts.flatMap(concept => objects(concept?.['designation']))
  return designations.length > 0 ? { designations } : {}
}

/** Codes named one by one need no system to be stored; if it is, it lends them its displays. */
async function listedCodes(
  library: Library,
  listed: readonly JsonObject[],
  canonical: string,
  { url, version }: { url: string; version: string | undefined },
  name: string,
): Promise<Members> {
  const resource = await library.find('CodeSystem', canonical)
  const system = resource && codeSystemOf(resource)
  await library.work(listed.length)
  const members: Members = new Map()
  for (const each of listed) {
    const code = text(each['code'])
    if (code === undefined) continue
    const concept = system?.concepts.get(code)
    const own = system && concept ? memberOf(system, concept) : { inactive: false }
    const display = text(each['display']) ?? concept?.display
    add(members, { ...own, system: url, version, code, display, ...designated(each, concept?.source) }, name)
  }
  return members
}
