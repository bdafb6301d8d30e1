// References as conditions: the one patient of a resource by its column, everything else by postings
// (https://hl7.org/fhir/R4/search.html#reference).

import { resourceTypes } from '../../definitions/r4.ts'
import { hash64 } from '../../lib/hash.ts'
import type { Base } from '../base.ts'
import * as postings from '../index/postings.ts'
import { referenceTarget } from '../values.ts'
import { unescaped } from './query-text.ts'
import type { ParamCriterion } from './request.ts'
import { anyOf, isUri, keysOf, postingArray, type SqlContext } from './sql-context.ts'
import { queryToken } from './values.ts'

export function referenceCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier === 'identifier') {
    const hashes = criterion.values.flatMap(value => {
      const { system, code } = queryToken(criterion.param.code, value)
      return keysOf(criterion, context).map(key =>
        postings.identifierPosting(key, system === undefined ? undefined : context.base.system(system), code ?? ''),
      )
    })
    return `${row}.tokens && ${postingArray(context, hashes)}`
  }
  const targets = criterion.values.flatMap(value => targetsOf(criterion, unescaped(value), context.base))
  const patients = targets.filter(target => target.startsWith('Patient/'))
  const held =
    !context.meetsInPostings &&
    criterion.types.length === 1 &&
    context.indexer.columns(criterion.types[0]!).patient.has(criterion.param.code)
  const others = held ? targets.filter(target => !target.startsWith('Patient/')) : targets
  const conditions: string[] = []
  if (held && patients.length === 1) conditions.push(`${row}.patient = ${context.bind(hash64(patients[0]!))}::bigint`)
  if (held && patients.length > 1)
    conditions.push(`${row}.patient = any(${postingArray(context, patients.map(hash64))})`)
  if (others.length > 0)
    conditions.push(
      `${row}.refs && ${postingArray(
        context,
        keysOf(criterion, context).flatMap(key => others.map(target => postings.refPosting(key, target))),
      )}`,
    )
  const uris = others.filter(isUri)
  if (uris.length > 0)
    conditions.push(
      `${row}.tokens && ${postingArray(
        context,
        keysOf(criterion, context).flatMap(key => uris.map(uri => postings.uriPosting(key, uri))),
      )}`,
    )
  return conditions.length > 0 ? anyOf(conditions) : 'false'
}

/** What a reference value may stand for: an id alone means any type that the parameter may point at. */
function targetsOf(criterion: ParamCriterion, value: string, base: Base): string[] {
  const { param, modifier } = criterion
  const target = referenceTarget(value, base)
  if (!target) return []
  if (isUri(target)) return [target]
  const [type, id] = target.split('/')
  if (id !== undefined) return modifier === '' || modifier === type ? [target] : []
  const types = modifier ? [modifier] : (param.targets ?? resourceTypes)
  return types.map(each => `${each}/${type}`)
}
