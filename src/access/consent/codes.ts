// The codes by which a consent names a part of a record, and what else of the record they mean.
import { resourceTypes, searchParams } from '../../definitions/r4.ts'
import { laboratorySections, sectionSystem } from '../../lib/laboratory.ts'
import { storedKeys } from '../../store/index/param-paths.ts'
import { systemCodePosting } from '../../store/index/postings.ts'

export interface Code {
  readonly system: string
  readonly code: string
}

const category = 'http://terminology.hl7.org/CodeSystem/observation-category'

/** The code, and those that other types of resources have for the same. */
export function withEquals(code: Code): Code[] {
  if (code.system !== category || code.code !== 'laboratory') return [code]
  return [code, ...laboratorySections.map(each => ({ system: sectionSystem, code: each }))]
}

/** The parameters by which resources of a type say what they are. */
const saying = ['category', 'code', 'type', 'vaccine-code']

/** The postings that a resource of one of the types has if it has one of the codes. */
export function postingsOf(codes: readonly Code[], types: readonly string[] = resourceTypes): bigint[] {
  const keys = types.flatMap(type =>
    saying.filter(code => searchParams(type).has(code)).flatMap(code => storedKeys(type, code)),
  )
  return keys.flatMap(key => codes.map(({ system, code }) => systemCodePosting(key, system, code)))
}
