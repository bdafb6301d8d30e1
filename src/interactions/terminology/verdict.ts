// The answer to whether a code is where it is asked for, under one of its names.
import type { Member } from '../../store/terminology/expand.ts'
import type { Coded } from '../../store/terminology/member.ts'
import { fold } from '../../store/values.ts'
import type { FhirReply } from '../request.ts'
import { flagOf, type Inputs, parametersReply, textOf } from './inputs.ts'
import { displayIn, namesOf } from './languages.ts'

/** A code that is there, and how it was asked for. */
export interface FoundCode {
  readonly asked: Coded
  readonly member: Member
}

/** @param place where the codes were looked for, in words: in the value set http://… */
export function verdict(
  inputs: Inputs,
  asked: readonly Coded[],
  found: readonly FoundCode[],
  place: string,
): FhirReply {
  const usable = flagOf(inputs, 'abstract') ? found : found.filter(({ member }) => !member.abstract)
  const right = usable.find(({ asked: { display }, member }) => display === undefined || isNameOf(member, display))
  const shown = displayIn((right ?? usable[0] ?? found[0])?.member ?? {}, textOf(inputs, 'displayLanguage'))
  const codes = asked.map(({ system, code }) => `${system}|${code}`).join(', ') || 'a concept without a code'
  const wrong = usable[0]
    ? `The display of ${codes} is "${shown}", not "${usable[0].asked.display}".`
    : found[0]
      ? `${codes} only groups other codes and cannot be selected; abstract=true accepts it.`
      : `${codes} is not ${place}.`
  return parametersReply([
    { name: 'result', valueBoolean: right !== undefined },
    right ? undefined : { name: 'message', valueString: wrong },
    shown === undefined ? undefined : { name: 'display', valueString: shown },
  ])
}

/** A code without a display has any. */
const isNameOf = (member: Member, display: string): boolean =>
  member.display === undefined || namesOf(member).some(name => fold(name) === fold(display))
