// ValueSet/$validate-code: is a code in a value set? https://hl7.org/fhir/R4/valueset-operation-validate-code.html
import type { Member } from '../../store/terminology/expand.ts'
import type { Coded } from '../../store/terminology/member.ts'
import { memberIn } from '../../store/terminology/member.ts'
import { fold } from '../../store/values.ts'
import type { FhirReply } from '../request.ts'
import { valueSetNaming } from './expand.ts'
import { codesOf, type Inputs, parametersReply, subjectOf } from './inputs.ts'

export const validateCodeTakes = {
  url: 'Canonical URL of the value set, optionally with |version.',
  valueSetVersion: 'The version of the value set.',
  code: 'The code. Requires system.',
  system: 'The code system of the code.',
  version: 'The version of the code system.',
  display: 'A display to check against the code.',
  displayLanguage: 'Accepted and ignored.',
}

export async function validateCode(inputs: Inputs): Promise<FhirReply> {
  const asked = codesOf(inputs)
  const valueSet = await subjectOf(inputs, valueSetNaming)
  const found: { asked: Coded; member: Member }[] = []
  for (const each of asked) {
    const member = await memberIn(inputs.library, valueSet, each)
    const isOther = each.version !== undefined && member?.version !== undefined && each.version !== member.version
    if (member && !isOther) found.push({ asked: each, member })
  }
  const right = found.find(
    ({ asked: { display }, member }) =>
      display === undefined || member.display === undefined || fold(display) === fold(member.display),
  )
  const shown = (right ?? found[0])?.member.display
  const codes = asked.map(({ system, code }) => `${system}|${code}`).join(', ') || 'a concept without a code'
  const wrong = found[0]
    ? `The display of ${codes} is "${shown}", not "${found[0].asked.display}".`
    : `${codes} is not in the value set ${valueSet['url'] ?? valueSet['id'] ?? 'given'}.`
  return parametersReply([
    { name: 'result', valueBoolean: right !== undefined },
    right ? undefined : { name: 'message', valueString: wrong },
    shown === undefined ? undefined : { name: 'display', valueString: shown },
  ])
}
