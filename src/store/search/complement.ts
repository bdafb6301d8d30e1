// `:not` on an element that has one code of a set that R4 gives, as a status: what does not have the code has one of the others, or none at
// all, and is found by those. Without that a search for what few resources have, as `Encounter?status:not=finished`, looks at all.
import type { SearchParamModel } from '../../definitions/model.ts'
import { valueSetCodes } from '../../definitions/r4.ts'
import { mainCode } from '../index/clinical-date.ts'
import type { Indexer } from '../index/entry.ts'
import { codeValueSet, isSingle } from '../index/param-paths.ts'
import type { Criterion, ParamCriterion } from './request.ts'
import { withoutImplied } from './sql-tokens.ts'
import { queryToken } from './values.ts'
import { isPlainToken } from './walk.ts'

/** Most codes that are asked for instead of one. */
const mostOthers = 30

/** What codes have that need no escaping in a query. */
const plainCode = /^[\w.-]+$/

/**
 * Criteria that the same resources meet, with the other codes in the place of a negated one where these are known: the validator stores no code
 * that is not in the set, and what has no value is posted as such.
 */
export function complemented(criteria: readonly Criterion[], indexer: Indexer): readonly Criterion[] {
  if (!criteria.some(negatedToken)) return criteria
  const others = criteria.map(each => complement(each, indexer))
  const isComplement = (param: SearchParamModel): boolean =>
    others.some(each => each.kind === 'param' && each.orAbsent && each.param === param)
  const valued = new Set(criteria.filter(asksForValue).map(each => each.param))
  // `ne` of a filter asks for a value that is another: the other codes say both.
  return others
    .filter(each => !asksForValue(each) || !isComplement(each.param))
    .map(each =>
      each.kind === 'param' && each.orAbsent && valued.has(each.param) ? { ...each, orAbsent: false } : each,
    )
}

function complement(criterion: Criterion, indexer: Indexer): Criterion {
  const negated = negatedToken(criterion)
  const others = negated && othersOf(negated, indexer)
  return negated && others ? { ...negated, modifier: '', values: others, orAbsent: true } : criterion
}

const asksForValue = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' &&
  criterion.modifier === 'missing' &&
  criterion.values.length === 1 &&
  criterion.values[0] === 'false'

/** The criterion on a token whose contrary is asked for. */
function negatedToken(criterion: Criterion): ParamCriterion | undefined {
  if (criterion.kind === 'not') return isPlainToken(criterion.part) ? criterion.part : undefined
  return criterion.kind === 'param' && criterion.param.type === 'token' && criterion.modifier === 'not'
    ? criterion
    : undefined
}

function othersOf(
  { types, param, values, operator, orAbsent }: ParamCriterion,
  { params, columns }: Indexer,
): string[] | undefined {
  const [type, ...moreTypes] = types
  if (type === undefined || moreTypes.length > 0 || operator !== undefined || orAbsent) return undefined
  const [key, ...moreKeys] = params.keys(type, param.code)
  const isKnown = key && moreKeys.length === 0 && columns(type).usual.has(key) && isSingle(param, type)
  const set = isKnown && param.code !== mainCode(type) ? codeValueSet(param, type) : undefined
  const codes = set && valueSetCodes(set)
  if (!codes || codes.length > mostOthers || !codes.every(code => plainCode.test(code))) return undefined
  const named = values.map(value => queryToken(param.code, value))
  if (named.some(({ code }) => code === undefined)) return undefined
  const without = new Set(named.map(token => withoutImplied(token, param, type)?.code))
  return codes.filter(code => !without.has(code))
}
