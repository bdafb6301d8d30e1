// CodeSystem/$validate-code: is a code in a code system? https://hl7.org/fhir/R4/codesystem-operation-validate-code.html
import type { JsonObject } from '../../lib/json.ts'
import { type CodeSystem, codeSystemOf, knownConcept, mustHaveCodes } from '../../store/terminology/code-system.ts'
import { memberOf } from '../../store/terminology/expand.ts'
import type { Coded } from '../../store/terminology/member.ts'
import type { FhirReply } from '../request.ts'
import { askedOf, type Inputs, subjectOf, textOf } from './inputs.ts'
import { verdict } from './verdict.ts'

export const validateSystemCodeTakes = {
  url: 'Canonical URL of the code system, optionally with |version.',
  version: 'The version of the code system.',
  code: 'The code.',
  display: 'A display to check against the code: right if it is one of its names, in any language.',
  abstract: 'true accepts codes that only group others and cannot be selected.',
  displayLanguage: 'The language of the display in the answer, such as fr.',
}

const naming = { type: 'CodeSystem', inline: 'codeSystem', version: 'version' } as const

export async function validateSystemCode(inputs: Inputs): Promise<FhirReply> {
  const { code, codings } = askedOf(inputs)
  const system = mustHaveCodes(codeSystemOf(await resourceOf(inputs, codings)))
  const asked = codings ?? [{ system: system.url, code: code!, display: textOf(inputs, 'display') }]
  const found = asked.flatMap(each => {
    const concept = isOf(system, each) ? knownConcept(system, each.code) : undefined
    return concept ? [{ asked: each, member: memberOf(system, concept) }] : []
  })
  return verdict(inputs, asked, found, `in the code system ${system.url || 'given'}`)
}

/** A coding names the system where nothing else does. */
async function resourceOf(inputs: Inputs, codings: readonly Coded[] | undefined): Promise<JsonObject> {
  const isNamed = inputs.id !== undefined || ['url', naming.inline].some(name => inputs.all(name).length > 0)
  const [coding] = codings ?? []
  if (isNamed || !coding) return subjectOf(inputs, naming)
  const { system, version = textOf(inputs, 'version') } = coding
  return inputs.library.byUrl('CodeSystem', version === undefined ? system : `${system}|${version}`)
}

const isOf = ({ url, version }: CodeSystem, asked: Coded): boolean =>
  asked.system === url && (asked.version === undefined || version === undefined || asked.version === version)
