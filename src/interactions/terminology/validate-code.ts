// ValueSet/$validate-code: is a code in a value set? https://hl7.org/fhir/R4/valueset-operation-validate-code.html
import { memberIn } from '../../store/terminology/member.ts'
import type { FhirReply } from '../request.ts'
import { valueSetNaming } from './expand.ts'
import { codesOf, type Inputs, subjectOf } from './inputs.ts'
import { type FoundCode, verdict } from './verdict.ts'

export const validateCodeTakes = {
  url: 'Canonical URL of the value set, optionally with |version.',
  valueSetVersion: 'The version of the value set.',
  code: 'The code. Requires system.',
  system: 'The code system of the code.',
  version: 'The version of the code system.',
  display: 'A display to check against the code: right if it is one of its names, in any language.',
  abstract: 'true accepts codes that only group others and cannot be selected.',
  displayLanguage: 'The language of the display in the answer, such as fr.',
}

export async function validateCode(inputs: Inputs): Promise<FhirReply> {
  const asked = codesOf(inputs)
  const valueSet = await subjectOf(inputs, valueSetNaming)
  const found: FoundCode[] = []
  for (const each of asked) {
    const member = await memberIn(inputs.library, valueSet, each)
    const isOther = each.version !== undefined && member?.version !== undefined && each.version !== member.version
    if (member && !isOther) found.push({ asked: each, member })
  }
  return verdict(inputs, asked, found, `in the value set ${valueSet['url'] ?? valueSet['id'] ?? 'given'}`)
}
