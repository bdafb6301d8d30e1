// Which interpretations of a result ask for attention: as the map lab-result-from-fhir has it, so that events and records say the same
// (test/events/flagged.test.ts).
import type { JsonObject } from '../lib/json.ts'
import { codingsIn } from './elements.ts'

/** HL7 version 3 and table 0078, each under its older names, too. */
const interpretations: ReadonlySet<unknown> = new Set([
  'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation',
  'http://hl7.org/fhir/v3/ObservationInterpretation',
  'urn:oid:2.16.840.1.113883.5.83',
  'http://terminology.hl7.org/CodeSystem/v2-0078',
  'http://hl7.org/fhir/v2/0078',
  'urn:oid:2.16.840.1.113883.12.78',
])
/** Interpretations that are normal, as the map has them. */
const harmless: ReadonlySet<unknown> = new Set(['N', 'NEG', 'ND', 'NR', 'S', 'B', 'null'])
/** Words that say that nothing is wrong. */
const normalWords: ReadonlySet<unknown> = new Set([
  ...['normal', 'normale', 'negative', 'négatif', 'négative', 'not detected', 'non détecté', 'none'],
])

/** True for a concept of these systems. */
export const isInterpretation = (concept: JsonObject): boolean => codingsOf(concept).length > 0

/** True for a code that is not normal, and for one that cannot be understood, or words, unless they say that all is normal. */
export function asksForAttention(concept: JsonObject): boolean {
  const codes = codingsOf(concept).flatMap(({ code }) => code ?? [])
  if (codes.length > 0) return codes.some(code => !harmless.has(code))
  const codings = codingsIn(concept)
  const said = [concept['text'], ...codings.map(({ display }) => display), ...codings.map(({ code }) => code)]
  const words = said.find(each => typeof each === 'string')
  return words !== undefined && !normalWords.has(words.toLowerCase())
}

const codingsOf = (concept: JsonObject): JsonObject[] =>
  codingsIn(concept).filter(({ system }) => interpretations.has(system))
