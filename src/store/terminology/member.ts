// Tests whether one code is in a value set of any size: it evaluates the definition and expands nothing.
// https://hl7.org/fhir/R4/valueset.html#compositions
import type { JsonObject } from '../../lib/json.ts'
import { objects, text } from '../values.ts'
import { codeSystem, codeSystemOf, isInactive, knownConcept, stepsOf } from './code-system.ts'
import {
  definitionOf,
  designated,
  filtersOf,
  importsOf,
  type Member,
  memberKey,
  memberOf,
  nameOf,
  storedExpansion,
} from './expand.ts'
import { type Library, unworkable } from './library.ts'

/** A code as a client names it. */
export interface Coded {
  readonly system: string
  readonly version?: string | undefined
  readonly code: string
  readonly display?: string | undefined
}

const answers = new WeakMap<JsonObject, Map<string, Promise<Member | undefined>>>()

/**
 * Returns the code as the value set holds it; undefined if it does not.
 * @param trail the value sets under evaluation, to detect one that imports itself.
 * @throws Failure NOT_FOUND for what the answer depends on and is not stored, VALIDATION_FAILED for what cannot be evaluated.
 */
export async function memberIn(
  library: Library,
  valueSet: JsonObject,
  asked: Coded,
  trail: readonly JsonObject[] = [],
): Promise<Member | undefined> {
  if (trail.includes(valueSet)) throw unworkable(`${nameOf(valueSet)} imports itself.`, 'invalid')
  const known = answers.get(valueSet) ?? new Map<string, Promise<Member | undefined>>()
  answers.set(valueSet, known)
  const key = memberKey(asked.system, asked.code)
  const answer = known.get(key) ?? look(library, valueSet, asked, trail)
  known.set(key, answer)
  return answer
}

async function look(
  library: Library,
  valueSet: JsonObject,
  asked: Coded,
  trail: readonly JsonObject[],
): Promise<Member | undefined> {
  const name = nameOf(valueSet)
  const ready = await storedExpansion(library, valueSet, name)
  if (ready) return ready.get(memberKey(asked.system, asked.code))
  const { include, exclude, allowsInactive } = definitionOf(valueSet, name)
  const path = [...trail, valueSet]
  const found = await firstIn(library, include, asked, path, name)
  if (!found || (found.inactive && !allowsInactive)) return undefined
  return (await firstIn(library, exclude, asked, path, name)) ? undefined : found
}

async function firstIn(
  library: Library,
  parts: readonly JsonObject[],
  asked: Coded,
  trail: readonly JsonObject[],
  name: string,
): Promise<Member | undefined> {
  await library.work(parts.length)
  for (const part of parts) {
    const found = await inPart(library, part, asked, trail, name)
    if (found) return found
  }
  return undefined
}

async function inPart(
  library: Library,
  part: JsonObject,
  asked: Coded,
  trail: readonly JsonObject[],
  name: string,
): Promise<Member | undefined> {
  const [system, imports] = [text(part['system']), importsOf(part)]
  if (system === undefined && imports.length === 0)
    throw unworkable(`${name} has a part with neither a system nor a value set.`, 'invalid')
  if (system !== undefined && system !== asked.system) return undefined
  let found = system === undefined ? undefined : await inSystem(library, part, asked, name)
  if (system !== undefined && !found) return undefined
  await library.work(imports.length)
  for (const canonical of imports) {
    const imported = await memberIn(library, await library.byUrl('ValueSet', canonical), asked, trail)
    if (!imported) return undefined
    found ??= imported
  }
  return found
}

async function inSystem(
  library: Library,
  part: JsonObject,
  { system: url, code }: Coded,
  name: string,
): Promise<Member | undefined> {
  const version = text(part['version'])
  const canonical = version === undefined ? url : `${url}|${version}`
  const listed = objects(part['concept'])
  if (listed.length === 0) {
    const system = await codeSystem(library, canonical)
    const concept = knownConcept(system, code)
    const filters = await filtersOf(library, system, part, name)
    if (!concept) return undefined
    await library.work(stepsOf(concept) * (1 + filters.length))
    return filters.every(({ holds }) => holds(concept)) ? memberOf(system, concept) : undefined
  }
  await library.work(listed.length)
  const one = listed.find(each => each['code'] === code)
  if (!one) return undefined
  const resource = await library.find('CodeSystem', canonical)
  const concept = resource && codeSystemOf(resource).concepts.get(code)
  const display = text(one['display']) ?? concept?.display
  const inactive = concept ? isInactive(concept) : false
  return { system: url, version, code, display, inactive, ...designated(one, concept?.source) }
}
