// The codes by which a consent names a part of a record, and the other codes of the record that they stand for.
import { resourceTypes, searchParams } from '../../definitions/r4.ts'
import { laboratorySections, sectionSystem } from '../../lib/laboratory.ts'
import { storedKeys } from '../../store/index/param-paths.ts'
import { systemCodePosting } from '../../store/index/postings.ts'

export interface Code {
  readonly system: string
  readonly code: string
}

const category = 'http://terminology.hl7.org/CodeSystem/observation-category'

/** Returns the code and its equivalents in other types of resources. */
export function withEquals(code: Code): Code[] {
  if (code.system !== category || code.code !== 'laboratory') return [code]
  return [code, ...laboratorySections.map(each => ({ system: sectionSystem, code: each }))]
}

/** The search parameters by which resources of a type state what they are. */
const saying = ['category', 'code', 'type', 'vaccine-code']

/** Returns the postings that a resource of one of the types has if it has one of the codes. */
export function postingsOf(codes: readonly Code[], types: readonly string[] = resourceTypes): bigint[] {
  const keys = types.flatMap(type =>
    saying.filter(code => searchParams(type).has(code)).flatMap(code => storedKeys(type, code)),
  )
  return keys.flatMap(key => codes.map(({ system, code }) => systemCodePosting(key, system, code)))
}
