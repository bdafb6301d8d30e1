// ConceptMap/$translate: a code in another code system. https://hl7.org/fhir/R4/conceptmap-operation-translate.html
import { type Match, translate as matchesOf } from '../../store/terminology/translate.ts'
import type { FhirReply } from '../request.ts'
import { codesOf, flagOf, type Inputs, type Output, parametersReply, subjectOf, textOf } from './inputs.ts'

export const translateTakes = {
  url: 'Canonical URL of the concept map, optionally with |version.',
  conceptMapVersion: 'The version of the concept map.',
  code: 'The code. Requires system.',
  system: 'The code system of the code.',
  version: 'The version of the code system.',
  source: 'Accepted and ignored: the request names the map.',
  target: 'The value set to translate to.',
  targetsystem: 'The code system to translate to.',
  reverse: 'true finds the codes that translate to this code.',
}

export async function translate(inputs: Inputs): Promise<FhirReply> {
  const asked = codesOf(inputs)
  const wanted = {
    reverse: flagOf(inputs, 'reverse'),
    target: textOf(inputs, 'target'),
    targetSystem: textOf(inputs, 'targetsystem'),
  }
  const naming = { type: 'ConceptMap', inline: 'conceptMap', version: 'conceptMapVersion' } as const
  const map = await subjectOf(inputs, naming)
  const all: Match[] = []
  for (const each of asked) all.push(...(await matchesOf(inputs.library, map, each, wanted)))
  const matches = all.filter(match => !match.isConditional)
  const isTranslated = matches.some(({ equivalence }) => equivalence !== 'unmatched' && equivalence !== 'disjoint')
  return parametersReply([
    { name: 'result', valueBoolean: isTranslated },
    isTranslated ? undefined : { name: 'message', valueString: reason(all, matches) },
    ...matches.map(output),
  ])
}

function reason(all: readonly Match[], matches: readonly Match[]): string {
  if (matches.length > 0) return 'The concept map maps the code to no target.'
  if (all.length > 0)
    return 'The code is translated only together with other values (dependsOn), which is not supported.'
  return 'The concept map has no translation for the code.'
}

function output({ equivalence, concept, source, products }: Match): Output {
  return {
    name: 'match',
    part: [
      { name: 'equivalence', valueCode: equivalence },
      ...(concept ? [{ name: 'concept', valueCoding: { ...concept, system: concept.system || undefined } }] : []),
      ...products.map(({ property, system, value, display }) => ({
        name: 'product',
        part: [
          { name: 'element', valueUri: property },
          { name: 'concept', valueCoding: { system, code: value, display } },
        ],
      })),
      ...(source === undefined ? [] : [{ name: 'source', valueUri: source }]),
    ],
  }
}
