// CodeSystem/$lookup: what a code means. https://hl7.org/fhir/R4/codesystem-operation-lookup.html
import type { JsonObject } from '../../lib/json.ts'
import {
  type CodeSystem,
  type Concept,
  codeSystem,
  conceptIn,
  propertiesOf,
} from '../../store/terminology/code-system.ts'
import { designated } from '../../store/terminology/expand.ts'
import { objects, text } from '../../store/values.ts'
import type { FhirReply } from '../request.ts'
import { codesOf, type Inputs, type Output, parametersReply, textOf } from './inputs.ts'
import { displayIn } from './languages.ts'

export const lookupTakes = {
  code: 'The code. Requires system.',
  system: 'Canonical URL of the code system.',
  version: 'The version of the code system.',
  property: 'A property to return. Default: all.',
  displayLanguage: 'The language of the display, such as fr.',
}

export async function lookup(inputs: Inputs): Promise<FhirReply> {
  const [{ system: url, version, code }] = codesOf(inputs) as [ReturnType<typeof codesOf>[number]]
  const system = await codeSystem(inputs.library, version === undefined ? url : `${url}|${version}`)
  const concept = conceptIn(system, code)
  const wanted = inputs.all('property').map(String)
  const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name) || wanted.includes('*')
  const { resource } = system
  const named = { display: concept.display, ...designated(concept.source) }
  return parametersReply([
    { name: 'name', valueString: text(resource['title']) ?? text(resource['name']) ?? url },
    system.version === undefined ? undefined : { name: 'version', valueString: system.version },
    { name: 'display', valueString: displayIn(named, textOf(inputs, 'displayLanguage')) ?? code },
    ...(isWanted('designation') ? objects(concept.source['designation']).map(designation) : []),
    ...properties(system, concept)
      .filter(([name]) => isWanted(name))
      .map(([, output]) => output),
  ])
}

const designation = ({ language, use, value }: JsonObject): Output => ({
  name: 'designation',
  part: [
    ...(language === undefined ? [] : [{ name: 'language', valueCode: language }]),
    ...(use === undefined ? [] : [{ name: 'use', valueCoding: use }]),
    { name: 'value', valueString: value },
  ],
})

/** Definition, place in the hierarchy, and what the concept states of itself. */
function properties(system: CodeSystem, concept: Concept): [string, Output][] {
  const definition = text(concept.source['definition'])
  return [
    ...(definition === undefined ? [] : [property('definition', 'valueString', definition)]),
    ...[...concept.parents].map(code => property('parent', 'valueCode', code, system.concepts.get(code)?.display)),
    ...[...concept.children].map(code => property('child', 'valueCode', code, system.concepts.get(code)?.display)),
    ...propertiesOf(concept)
      .filter(({ code }) => code !== 'parent' && code !== 'child')
      .map(({ code, member, value }) => property(code, member, value)),
  ]
}

function property(code: string, member: string, value: unknown, description?: string): [string, Output] {
  const part = [
    { name: 'code', valueCode: code },
    { name: 'value', [member]: value },
    ...(description === undefined ? [] : [{ name: 'description', valueString: description }]),
  ]
  return [code, { name: 'property', part }]
}
