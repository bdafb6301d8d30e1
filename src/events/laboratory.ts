// Which resources belong to a laboratory, and what the observations of a report show.

import { isObject, type JsonObject } from '../lib/json.ts'
import { laboratorySections, sectionSystem } from '../lib/laboratory.ts'
import { objects } from '../store/values.ts'
import type { State, Surroundings } from './claims.ts'
import { codingsIn, targetOf } from './elements.ts'
import { asksForAttention, isInterpretation } from './interpretation.ts'

const laboratoryCodes: ReadonlySet<string> = new Set([
  ...laboratorySections.map(each => `${sectionSystem}|${each}`),
  'http://terminology.hl7.org/CodeSystem/observation-category|laboratory',
  // Laboratory procedure, and laboratory test.
  'http://snomed.info/sct|108252007',
  'http://snomed.info/sct|15220000',
  // Laboratory; laboratory report; laboratory studies.
  ...['LP29693-6', '11502-2', '26436-6'].map(each => `http://loinc.org|${each}`),
])

/**
 * True for a laboratory's resource, by its category. Without one: for a resource about a specimen, and a report with such an
 * observation; the test's code decides nothing, since LOINC has codes for X-rays, too.
 */
export const isOfLaboratory: State = (resource, around) => {
  const categories = codingsIn(resource['category'])
  if (categories.length > 0) return categories.some(isLaboratory)
  if (!isToldByObservations(resource)) return true
  return observationsOf(resource, around).found.some(({ category }) => codingsIn(category).some(isLaboratory))
}

/** True if it has neither category nor specimen, so that its observations alone say whether it is a laboratory's. */
export const isToldByObservations = ({ category, specimen }: JsonObject): boolean =>
  codingsIn(category).length === 0 && objects(specimen).length === 0

/** True if its category is a laboratory's, or leaves it open. */
export function mayBeOfLaboratory({ category }: JsonObject): boolean {
  const categories = codingsIn(category)
  return categories.length === 0 || categories.some(isLaboratory)
}

const isLaboratory = ({ system, code }: JsonObject): boolean => laboratoryCodes.has(`${system}|${code}`)

const withdrawn: ReadonlySet<unknown> = new Set(['cancelled', 'entered-in-error'])

/** True if an observation that a report is made of needs attention, or what the report concludes is such an interpretation. */
export function isFlagged(report: JsonObject, around: Surroundings): boolean {
  const valid = observationsOf(report, around).found.filter(({ status }) => !withdrawn.has(status))
  const parts = valid.flatMap(each => [each, ...objects(each['component'])])
  const given = parts.flatMap(({ interpretation }) => objects(interpretation))
  const concluded = objects(report['conclusionCode']).filter(isInterpretation)
  return [...given, ...concluded].some(asksForAttention)
}

export interface Observations {
  readonly found: JsonObject[]
  /** Names of those that have not been looked up yet. */
  readonly unknown: string[]
}

/** Deepest nesting of groups. */
const deepest = 3
/** Most observations that are read. */
const most = 500

/** The observations that a report is made of, contained or known, and those that they group. */
export function observationsOf(report: JsonObject, around: Surroundings): Observations {
  const observations = { found: [], unknown: [] }
  collect(report['result'], report, 0, { observations, seen: new Set(), around })
  return observations
}

interface Collection {
  readonly observations: Observations
  readonly seen: Set<string>
  readonly around: Surroundings
}

/** @param holder the resource that contains what the references name by `#` */
function collect(references: unknown, holder: JsonObject, depth: number, collection: Collection): void {
  for (const { reference } of objects(references)) {
    if (typeof reference !== 'string' || depth >= deepest || collection.seen.size >= most) continue
    const isInside = reference.startsWith('#')
    const observation = isInside ? inside(holder, reference.slice(1), collection) : outside(reference, collection)
    if (!observation) continue
    collection.observations.found.push(observation)
    collect(observation['hasMember'], isInside ? holder : observation, depth + 1, collection)
  }
}

function inside(holder: JsonObject, id: string, { seen }: Collection): JsonObject | undefined {
  const name = `${holder['id']}#${id}`
  if (seen.has(name)) return undefined
  seen.add(name)
  return objects(holder['contained']).find(each => each['id'] === id)
}

function outside(reference: string, { seen, around, observations }: Collection): JsonObject | undefined {
  const target = targetOf({ reference }, around.base)
  const name = target?.type === 'Observation' ? `${target.type}/${target.id}` : undefined
  if (name === undefined || seen.has(name)) return undefined
  seen.add(name)
  if (!around.known.has(name)) observations.unknown.push(name)
  const known = around.known.get(name)
  return isObject(known) ? known : undefined
}
