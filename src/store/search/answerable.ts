// Parameters of R4 that are refused, since they would find nothing whatever is stored. Those over canonical addresses name a resource by
// its url, which includes, chains and `_has` do not follow (https://hl7.org/fhir/R4/references.html#canonical).
import type { SearchParamModel } from '../../definitions/model.ts'
import { typesRead } from '../index/param-paths.ts'
import { isOwn } from '../search-params/known.ts'
import { malformed, shown } from './query-text.ts'

/** True if the parameter can hold a reference to a resource by type and id. */
export const isLeading = (param: SearchParamModel, type: string): boolean =>
  !typesRead(param, type)?.every(each => each === 'canonical' || each === 'uri')

/** @throws Failure MALFORMED_REQUEST for a parameter of the types that holds nothing but canonical addresses. */
export function mustLead(param: SearchParamModel, types: readonly string[], name: string): void {
  if (types.some(type => isLeading(param, type))) return
  const [target] = param.targets?.length === 1 ? param.targets : ['the resource']
  throw malformed(
    name,
    `${shown(name)}: ${param.code} of ${types[0]} holds canonical addresses, which are not followed. Search ${target} by url=, and ${types[0]} by ${param.code}= with that address.`,
  )
}

/** Parameters of R4 that ask for what is not indexed. */
export const unindexed: ReadonlySet<string> = new Set(['phonetic'])

/** @throws Failure MALFORMED_REQUEST for a search by the sound of a name. */
export function mustBeAnswered(param: SearchParamModel): void {
  if (!unindexed.has(param.code) || isOwn(param)) return
  throw malformed(
    param.code,
    'phonetic is not supported: search by the beginning of a name (name=). Patient/$match compares the names of patients by their sound.',
  )
}
