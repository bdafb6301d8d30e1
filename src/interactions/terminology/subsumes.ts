// CodeSystem/$subsumes: which of two codes is the more general one? https://hl7.org/fhir/R4/codesystem-operation-subsumes.html
import { Failure } from '../../lib/failure.ts'
import { type CodeSystem, closure, codeSystem, codeSystemOf, conceptIn } from '../../store/terminology/code-system.ts'
import type { FhirReply } from '../request.ts'
import { type Inputs, oneOf, parametersReply, textOf } from './inputs.ts'

export const subsumesTakes = {
  codeA: 'The first code. Requires system.',
  codeB: 'The second code. Requires system.',
  system: 'Canonical URL of the code system.',
  version: 'The version of the code system.',
}

export async function subsumes(inputs: Inputs): Promise<FhirReply> {
  const [a, b] = [oneOf(inputs, 'codeA', 'codingA'), oneOf(inputs, 'codeB', 'codingB')]
  const system = await systemOf(inputs, [a.system, b.system])
  for (const { code } of [a, b]) conceptIn(system, code)
  return parametersReply([{ name: 'outcome', valueCode: await outcomeOf(inputs, system, a.code, b.code) }])
}

/** A code of http://hl7.org/fhir/concept-subsumption-outcome. */
async function outcomeOf({ library }: Inputs, system: CodeSystem, a: string, b: string): Promise<string> {
  const isAbove = async (one: string, other: string): Promise<boolean> => {
    const found = closure(system, other, 'parents')
    await library.work(found.size)
    return found.has(one)
  }
  if (a === b) return 'equivalent'
  if (await isAbove(a, b)) return 'subsumes'
  return (await isAbove(b, a)) ? 'subsumed-by' : 'not-subsumed'
}

/** The system of the address, or the one that system and the codings name. @throws Failure MALFORMED_REQUEST if they name several, or none */
async function systemOf(inputs: Inputs, named: readonly (string | undefined)[]) {
  const { library, id } = inputs
  const own = id === undefined ? undefined : codeSystemOf(await library.byId('CodeSystem', id))
  const names = new Set([...named, textOf(inputs, 'system'), own?.url].filter(each => each !== undefined))
  const [url, ...more] = names
  if (url === undefined || more.length > 0) {
    const message = 'Specify one code system: with system, with the codings, or call CodeSystem/[id]/$subsumes.'
    throw new Failure('MALFORMED_REQUEST', message, { details: [{ field: 'system', code: 'invalid', message }] })
  }
  if (own) return own
  const version = textOf(inputs, 'version')
  return codeSystem(library, version === undefined ? url : `${url}|${version}`)
}
