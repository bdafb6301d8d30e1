// References as conditions: the one patient of a resource by its column, everything else by postings
// (https://hl7.org/fhir/R4/search.html#reference).

import { int2Array } from '../../db/arrays.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { hash64 } from '../../lib/hash.ts'
import type { Base } from '../base.ts'
import * as postings from '../index/postings.ts'
import { shardOf, shardSql } from '../index/shard.ts'
import { referenceTarget } from '../values.ts'
import { malformed, unescaped } from './query-text.ts'
import type { ParamCriterion } from './request.ts'
import { anyOf, isUri, keysOf, postingArray, type SqlContext } from './sql-context.ts'
import { queryToken } from './values.ts'

export function referenceCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier === 'identifier') {
    const hashes = criterion.values.flatMap(value => {
      const { system, code } = queryToken(criterion.param.code, value)
      if (code === undefined)
        throw malformed(
          criterion.param.code,
          `${criterion.param.code}:identifier: a system alone is not supported: write value, system|value or |value.`,
          'value',
        )
      return keysOf(criterion, context).map(key =>
        postings.identifierPosting(key, system === undefined ? undefined : context.base.system(system), code),
      )
    })
    return `${row}.tokens && ${postingArray(context, hashes)}`
  }
  const targets = criterion.values.flatMap(value => targetsOf(criterion, unescaped(value), context.base))
  const patients = targets.filter(target => target.startsWith('Patient/'))
  const namesPatient =
    criterion.types.length === 1 && context.indexer.columns(criterion.types[0]!).patient.has(criterion.param.code)
  const held = namesPatient && !context.meetsInPostings
  const others = held ? targets.filter(target => !target.startsWith('Patient/')) : targets
  const conditions: string[] = []
  if (held && patients.length === 1) conditions.push(isAboutPatient(row, context.bind(hash64(patients[0]!))))
  if (held && patients.length > 1)
    conditions.push(
      `(${row}.patient = any(${postingArray(context, patients.map(hash64))}) and ${isInBucketOf(row, patients.map(hash64), context)})`,
    )
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
  if (conditions.length === 0) return 'false'
  const found = anyOf(conditions)
  // Its postings find what its column would find, so all of that is in the bucket of the one patient.
  const isInBuckets = namesPatient && !held && context.shift === undefined && patients.length === targets.length
  return isInBuckets ? `(${found} and ${isInBucketOf(row, patients.map(hash64), context)})` : found
}

/** The condition that a row is in the bucket of one of the patients, or of resources that are about no patient, by their hashes. */
export function isInBucketOf(row: string, selves: readonly bigint[], { bind }: Pick<SqlContext, 'bind'>): string {
  const [first, ...more] = new Set(selves.map(shardOf))
  // One, as a scalar, leaves only one part of a table when the statement starts.
  return more.length === 0
    ? `${row}.shard = ${bind(first)}::smallint`
    : `${row}.shard = any(${bind(int2Array([first!, ...more]))}::smallint[])`
}

/** The condition that a row is about the patient, and in the bucket of that one. @param self SQL for the patient's hash */
export const isAboutPatient = (row: string, self: string): string =>
  `(${row}.patient = ${self}::bigint and ${row}.shard = ${shardSql(`${self}::bigint`)})`

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
