// Composites as conditions: two values of one element (https://hl7.org/fhir/R4/search.html#composite).
import type { SearchParamModel } from '../../definitions/model.ts'
import { Failure } from '../../lib/failure.ts'
import { isRange, pairWord } from '../index/composites.ts'
import { foldedWord } from '../index/draft.ts'
import { componentParams } from '../index/param-paths.ts'
import * as postings from '../index/postings.ts'
import { referenceTarget } from '../values.ts'
import { splitEscaped, unescaped } from './query-text.ts'
import { numberCondition } from './ranges.ts'
import type { ParamCriterion } from './request.ts'
import { anyOf, keysOf, numbersOf, postingArray, type SqlContext } from './sql-context.ts'
import { rangeCondition, spanCondition } from './sql-spans.ts'
import { tokenCondition, withoutImplied } from './sql-tokens.ts'
import { startsWith, wordCondition } from './sql-words.ts'
import { queryNumber, queryToken } from './values.ts'

export function compositeCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const { param, types } = criterion
  const [left, right, third] = componentParams(param, types[0]!)
  if (left && third) return anyOf(criterion.values.map(value => stretchCondition(criterion, left, value, row, context)))
  const conditions = criterion.values.map(value => {
    const parts = splitEscaped(value, '$')
    if (parts.length !== 2 || parts.includes(''))
      throw new Failure('MALFORMED_REQUEST', `${param.code}: two values joined by $, e.g. ${param.code}=8480-6$gt120.`)
    if (left && right && isRange(right.type))
      return rangePairCondition(criterion, left, right, parts as [string, string], row, context)
    const one = pairText(criterion, left, parts[0]!, context)
    if (right?.type === 'string') {
      const folded = foldedWord(pairWord(one, unescaped(parts[1]!)))
      return wordCondition(criterion, startsWith(folded, context), row, context)
    }
    const other = pairText(criterion, right, parts[1]!, context)
    const hashes = keysOf(criterion, context).map(key => postings.pairPosting(key, one, other))
    return `${row}.tokens && ${postingArray(context, hashes)}`
  })
  return anyOf(conditions)
}

function rangePairCondition(
  criterion: ParamCriterion,
  left: SearchParamModel,
  right: SearchParamModel,
  [one, other]: [string, string],
  row: string,
  context: SqlContext,
): string {
  return withToken(criterion, left, one, row, context, () => rangeCondition(right, other, context))
}

/** A token with the start and the end of a stretch: `chromosome-window-coordinate=1$lt345$gt123`. */
function stretchCondition(
  criterion: ParamCriterion,
  left: SearchParamModel,
  value: string,
  row: string,
  context: SqlContext,
): string {
  const { code } = criterion.param
  const parts = splitEscaped(value, '$')
  if (parts.length !== 3 || parts.includes(''))
    throw new Failure('MALFORMED_REQUEST', `${code}: three values joined by $, e.g. ${code}=1$lt345$gt123.`)
  const [token, start, end] = parts as [string, string, string]
  return withToken(criterion, left, token, row, context, () => {
    const from = numberCondition(queryNumber(code, start), context, { low: 'v.low', high: 'v.low' })
    const to = numberCondition(queryNumber(code, end), context, { low: 'v.high', high: 'v.high' })
    return `${from} and ${to}`
  })
}

// span.token holds 32 bits of the code: the 64-bit posting of the component's own parameter decides.
function withToken(
  criterion: ParamCriterion,
  left: SearchParamModel,
  one: string,
  row: string,
  context: SqlContext,
  rest: () => string,
): string {
  const { system, code } = queryToken(criterion.param.code, one)
  if (code === undefined)
    throw new Failure('MALFORMED_REQUEST', `${criterion.param.code}: the first component requires a code.`)
  const [low, high] =
    system === undefined
      ? postings.spanTokenRange(code)
      : [postings.spanToken(system, code), postings.spanToken(system, code)]
  const which = `v.param = ${numbersOf(criterion, context)} and v.token between ${context.bind(low)}::bigint and ${context.bind(high)}::bigint`
  const range = spanCondition(row, which, rest())
  return `(${range} and ${tokenCondition({ ...criterion, param: left, modifier: '', values: [one] }, row, context)})`
}

/** A component's value in the form in which the index writes it. */
function pairText(
  { param, types }: ParamCriterion,
  component: SearchParamModel | undefined,
  text: string,
  { base }: SqlContext,
): string {
  if (component?.type === 'reference') return referenceTarget(unescaped(text), base) ?? text
  if (component && component.type !== 'token') return unescaped(text)
  const token = queryToken(param.code, text)
  const { system, code } = (component && withoutImplied(token, component, types[0]!)) ?? token
  return system === undefined ? code! : `${system}|${code ?? ''}`
}
