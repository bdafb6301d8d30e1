// What a code is in another code system, by a ConceptMap. https://hl7.org/fhir/R4/conceptmap.html
import { isObject, type JsonObject } from '../../lib/json.ts'
import { objects, text } from '../values.ts'
import { canonicalParts, type Library, named, unworkable } from './library.ts'
import { type Coded, memberIn } from './member.ts'

export interface Match {
  readonly equivalence: string
  /** Absent where the map states that there is no such concept. */
  readonly concept: Coded | undefined
  /** Canonical address of the map that gives the result. */
  readonly source: string | undefined
  readonly products: readonly JsonObject[]
  /** True if the match holds only together with other values, which are not looked at here. */
  readonly isConditional: boolean
}

export interface TranslateRequest {
  /** The code is one of the map's targets, and the request is for its sources. */
  readonly reverse: boolean
  /** The value set in which translations are wanted. */
  readonly target: string | undefined
  readonly targetSystem: string | undefined
}

const mostMaps = 5

/** Every match that the map has for the code. @throws Failure NOT_FOUND for another map or value set that is not stored. */
export async function translate(
  library: Library,
  map: JsonObject,
  asked: Coded,
  wanted: TranslateRequest,
): Promise<Match[]> {
  const all = await matchesOf(library, map, asked, wanted.reverse, [])
  const inSystem = wanted.targetSystem === undefined ? all : all.filter(isOf(wanted.targetSystem))
  if (wanted.target === undefined || isEnd(map, wanted)) return inSystem
  const target = await named(library, 'ValueSet', wanted.target)
  const within: Match[] = []
  for (const match of inSystem)
    if (match.concept && (await memberIn(library, target, match.concept))) within.push(match)
  return within
}

const isOf =
  (system: string) =>
  ({ concept }: Match): boolean =>
    concept?.system === system

/** True if the map as a whole leads to the value set that is wanted. */
function isEnd(map: JsonObject, { target, reverse }: TranslateRequest): boolean {
  const end = reverse ? (map['sourceUri'] ?? map['sourceCanonical']) : (map['targetUri'] ?? map['targetCanonical'])
  return typeof end === 'string' && canonicalParts(end).url === canonicalParts(target!).url
}

async function matchesOf(
  library: Library,
  map: JsonObject,
  asked: Coded,
  reverse: boolean,
  trail: readonly JsonObject[],
): Promise<Match[]> {
  if (trail.includes(map) || trail.length >= mostMaps)
    throw unworkable('The concept maps refer to each other in a cycle.', 'invalid')
  const found: Match[] = []
  for (const group of objects(map['group'])) {
    const elements = group['element']
    await library.work(1 + (Array.isArray(elements) ? elements.length : 0))
    if (reverse) found.push(...backward(map, group, asked))
    else found.push(...(await forward(library, map, group, asked, trail)))
  }
  return found
}

const same = (stated: string | undefined, asked: string | undefined): boolean =>
  stated === undefined || asked === undefined || stated === asked

async function forward(
  library: Library,
  map: JsonObject,
  group: JsonObject,
  asked: Coded,
  trail: readonly JsonObject[],
): Promise<Match[]> {
  if (!same(text(group['source']), asked.system) || !same(text(group['sourceVersion']), asked.version)) return []
  const elements = objects(group['element']).filter(element => element['code'] === asked.code)
  if (elements.length === 0) return unmapped(library, map, group, asked, trail)
  return elements.flatMap(element =>
    objects(element['target']).map(target => ({
      ...common(map, target),
      equivalence: text(target['equivalence']) ?? 'equivalent',
      concept: coded(group, 'target', target),
      products: objects(target['product']),
    })),
  )
}

/**
 * Returns the group's result for codes that it does not list
 * (https://hl7.org/fhir/R4/conceptmap-definitions.html#ConceptMap.group.unmapped).
 */
async function unmapped(
  library: Library,
  map: JsonObject,
  group: JsonObject,
  asked: Coded,
  trail: readonly JsonObject[],
): Promise<Match[]> {
  const rule = group['unmapped']
  if (!isObject(rule)) return []
  if (rule['mode'] === 'other-map')
    return matchesOf(
      library,
      await library.byUrl('ConceptMap', text(rule['url']) ?? ''),
      { ...asked, version: undefined },
      false,
      [...trail, map],
    )
  const given = rule['mode'] === 'provided' ? { code: asked.code, display: asked.display } : rule
  const equivalence = rule['mode'] === 'provided' ? 'equal' : 'inexact'
  return [{ ...common(map, {}), equivalence, concept: coded(group, 'target', given), products: [] }]
}

const inverse: Readonly<Record<string, string>> = {
  wider: 'narrower',
  narrower: 'wider',
  subsumes: 'specializes',
  specializes: 'subsumes',
}

function backward(map: JsonObject, group: JsonObject, asked: Coded): Match[] {
  if (!same(text(group['target']), asked.system) || !same(text(group['targetVersion']), asked.version)) return []
  return objects(group['element']).flatMap(element =>
    objects(element['target'])
      .filter(target => target['code'] === asked.code)
      .map(target => {
        const stated = text(target['equivalence']) ?? 'equivalent'
        const concept = coded(group, 'source', element)
        return { ...common(map, target), equivalence: inverse[stated] ?? stated, concept, products: [] }
      }),
  )
}

const common = (map: JsonObject, target: JsonObject): Pick<Match, 'source' | 'isConditional'> => ({
  source: text(map['url']),
  isConditional: objects(target['dependsOn']).length > 0,
})

function coded(group: JsonObject, end: 'source' | 'target', from: JsonObject): Coded | undefined {
  const code = text(from['code'])
  if (code === undefined) return undefined
  const [system, version] = [text(group[end]) ?? '', text(group[`${end}Version`])]
  return { system, version, code, display: text(from['display']) }
}
