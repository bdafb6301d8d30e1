// Codes, spoken texts and uris as conditions: all of them postings (https://hl7.org/fhir/R4/search.html#token).
import type { SearchParamModel } from '../../definitions/model.ts'
import { valueSetHas } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import type { Base } from '../base.ts'
import { codeValueSet, plainCodePosting } from '../index/param-paths.ts'
import type { ParamKey } from '../index/postings.ts'
import * as postings from '../index/postings.ts'
import { malformed, splitEscaped, unescaped } from './query-text.ts'
import { codeModifiers, type ParamCriterion } from './request.ts'
import { anyOf, keysOf, postingArray, type SqlContext } from './sql-context.ts'
import { termsWith } from './sql-words.ts'
import { type QueryToken, queryToken } from './values.ts'

export function tokenCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  if (criterion.modifier === 'text') return textCondition(criterion, row, context)
  if (codeModifiers.has(criterion.modifier) && !criterion.codes) throw new Error('the codes were not looked up')
  const hashes = criterion.types.flatMap(type =>
    context.indexer.params
      .keys(type, criterion.param.code)
      .flatMap(key => [
        ...(criterion.codes
          ? criterion.codes.flatMap(coding => postingsOf(coding, criterion.param, type, key, context.base))
          : criterion.values.flatMap(value => tokenPostings(criterion, type, key, value, context.base))),
        ...(criterion.orAbsent ? [key.absent] : []),
      ]),
  )
  const found = hashes.length > 0 ? `${row}.tokens && ${postingArray(context, hashes)}` : 'false'
  return criterion.modifier === 'not' || criterion.modifier === 'not-in' ? `not (${found})` : found
}

function tokenPostings(criterion: ParamCriterion, type: string, key: ParamKey, value: string, base: Base): bigint[] {
  const { code } = criterion.param
  if (criterion.modifier === 'of-type') {
    const parts = splitEscaped(value, '|').map(unescaped)
    if (parts.length !== 3)
      throw new Failure('MALFORMED_REQUEST', `${code}:of-type must have the form system|code|value.`)
    return [postings.ofTypePosting(key, parts[0]!, parts[1]!, parts[2]!)]
  }
  return postingsOf(queryToken(code, value), criterion.param, type, key, base)
}

function postingsOf(asked: QueryToken, param: SearchParamModel, type: string, key: ParamKey, base: Base): bigint[] {
  const token = withoutImplied(asked, param, type)
  if (!token) return []
  if (token.system === undefined) return [plainCodePosting(type, key, token.code!)]
  const system = base.system(token.system)
  return [
    token.code === undefined
      ? postings.systemPosting(key, system)
      : postings.systemCodePosting(key, system, token.code),
  ]
}

/** The token as the index has it where the element is a bare code, whose system is implied; undefined if it cannot be there. */
export function withoutImplied(token: QueryToken, param: SearchParamModel, type: string): QueryToken | undefined {
  const implied = token.system && token.code !== undefined ? codeValueSet(param, type) : undefined
  if (!implied) return token
  return valueSetHas(implied, token.code!, token.system) ? { system: undefined, code: token.code } : undefined
}

function textCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  // Those that were looked up are texts of resources of their own.
  const texts = context.shift === undefined ? criterion.texts : undefined
  if (texts?.length === 0) return 'false'
  if (texts) return `${row}.tokens && ${postingArray(context, texts)}`
  // Terms of contained resources are stored with the posting that their container has.
  return `${row}.tokens && array(${termsWith(criterion, 'd.posting', context)})`
}

export function uriCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const uris = criterion.values.map(unescaped)
  const keys = keysOf(criterion, context)
  const among = (posting: (key: ParamKey) => bigint[]): string =>
    `${row}.tokens && ${postingArray(context, keys.flatMap(posting))}`
  if (criterion.modifier === 'above') {
    const versioned = uris.some(uri => uri.includes('|'))
    if (versioned)
      throw malformed(criterion.param.code, `${criterion.param.code}:above requires a URL without a version.`)
    return among(key => uris.flatMap(uri => addressesAbove(uri).map(above => postings.uriPosting(key, above))))
  }
  if (criterion.modifier !== 'below') return among(key => uris.map(uri => postings.uriPosting(key, uri)))
  return anyOf(uris.map(uri => belowCondition(uri, among, row, context)))
}

/** An address and those above it, each also as it is written with a slash at its end. */
const addressesAbove = (uri: string): string[] => {
  const [itself, ...above] = postings.ancestors(uri)
  return itself === undefined ? [] : [...new Set([uri, itself]), ...above.flatMap(each => [each, `${each}/`])]
}

/**
 * Below `…/vs/a/` lies what begins with it, which `…/vs/a` does not. The index holds addresses without the slash at their end, so
 * where a resource has `…/vs/a` itself, its body shows whether it has one below as well.
 */
function belowCondition(
  uri: string,
  among: (posting: (key: ParamKey) => bigint[]) => string,
  row: string,
  context: SqlContext,
): string {
  const trimmed = uri.replace(/\/+$/, '')
  const isBelow = among(key => [postings.belowPosting(key, trimmed)])
  if (trimmed === uri) return isBelow
  const isItself = among(key => [postings.uriPosting(key, trimmed)])
  const start = context.bind(JSON.stringify(`${trimmed}/`).slice(0, -1))
  const beginsSo = `exists (select 1 from resource b where b.shard = ${row}.shard and b.key = ${row}.key and position(${start}::text in b.body) > 0)`
  return `(${isBelow} and (not (${isItself}) or ${beginsSo}))`
}
