// Contained resources in the index: they are found by chains only, so what they are found by becomes part of their
// container, apart for each parameter that points at them (https://hl7.org/fhir/R4/search.html#contained).
import type { Typed } from '../../fhirpath/compile.ts'
import { hash64 } from '../../lib/hash.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { objects } from '../values.ts'
import { clinicalDate } from './clinical-date.ts'
import { type Draft, noDate } from './draft.ts'
import { type ParamKey, paramKey } from './postings.ts'

/** Some contained resource of the type is what the parameter points at. */
export const containedPosting = (key: ParamKey, type: string): bigint => hash64(`#${type}`) ^ key.salt

/** What the numbers of parameters are xor-ed with, as their postings are with the salt. */
export const shiftOfNumbers = (salt: bigint): number => Number(BigInt.asIntN(32, salt))

/** The contained resources that the values of a parameter point at. */
export function containedTargets(resource: JsonObject, values: readonly Typed[]): JsonObject[] {
  const contained = objects(resource['contained'])
  if (contained.length === 0) return []
  const ids = new Set(values.map(({ value }) => (isObject(value) ? value['reference'] : undefined)))
  return contained.filter(each => typeof each['id'] === 'string' && ids.has(`#${each['id']}`))
}

const heads: ReadonlySet<unknown> = new Set(['Composition', 'MessageHeader'])

/** The Composition or MessageHeader with which a Bundle begins, which `composition` and `message` give access to. */
export const firstEntries = (values: readonly Typed[]): JsonObject[] =>
  values.flatMap(({ value }) => (isObject(value) && heads.has(value['resourceType']) ? [value] : []))

/** Takes what a contained resource is found by into the draft of its container. */
export function addContained(draft: Draft, key: ParamKey, type: string, inner: Draft): void {
  const shift = shiftOfNumbers(key.salt)
  const moved = <Part extends { readonly param: number }>(part: Part): Part => ({ ...part, param: part.param ^ shift })
  draft.tokens.add(containedPosting(key, type))
  for (const posting of inner.tokens) draft.tokens.add(posting ^ key.salt)
  for (const posting of inner.refs) draft.refs.add(posting ^ key.salt)
  for (const span of inner.spans) draft.spans.push(moved(span))
  // The columns of the row belong to the container.
  if (inner.date !== noDate) {
    const param = paramKey(type, clinicalDate(type)).number ^ shift
    draft.spans.push({ param, token: 0n, unit: 0n, low: inner.date, high: inner.dateHigh })
  }
  for (const word of inner.words) draft.words.push(moved(word))
  for (const term of inner.terms) draft.terms.push({ ...moved(term), posting: term.posting ^ key.salt })
}
