// `:not` on an element that has one code of a set that R4 gives, such as a status: what does not have the code has one of the others, or none at
// all, and is found by those. Without that, a search for what few resources have, such as `Encounter?status:not=finished`, looks at all.
import type { SearchParamModel } from '../../definitions/model.ts'
import { mainCode } from '../index/clinical-date.ts'
import type { Indexer } from '../index/entry.ts'
import { closedCodes, codeValueSet } from '../index/param-paths.ts'
import { isOfFewRows } from './reach.ts'
import type { Criterion, ParamCriterion, SearchRequest } from './request.ts'
import { asksForValue } from './sql-missing.ts'
import { withoutImplied } from './sql-tokens.ts'
import { queryToken } from './values.ts'
import { isPlainToken } from './walk.ts'

/** Most codes that are asked for instead of one. */
const mostOthers = 30

/**
 * A request that the same resources meet, with the other codes in the place of a negated one where these are known: the validator stores no code
 * that is not in the set, and what has no value is posted as such. Unchanged where few rows are looked at, which cost less to compare.
 */
export function complemented(request: SearchRequest, indexer: Indexer): SearchRequest {
  if (!request.criteria.some(negatedToken) || isOfFewRows(request)) return request
  const valued = new Set(request.criteria.filter(asksForValue).map(({ param }) => param))
  const complements = new Set<SearchParamModel>()
  const criteria = request.criteria.map(criterion => {
    const negated = negatedToken(criterion)
    const values = negated && othersOf(negated, indexer)
    if (!negated || !values) return criterion
    complements.add(negated.param)
    return { ...negated, modifier: '', values, orAbsent: !valued.has(negated.param) }
  })
  // `ne` of a filter asks for a value, and for another than one: the other codes say both.
  return { ...request, criteria: criteria.filter(each => !asksForValue(each) || !complements.has(each.param)) }
}

/** The criterion on a token whose contrary is asked for. */
function negatedToken(criterion: Criterion): ParamCriterion | undefined {
  if (criterion.kind === 'not') return isPlainToken(criterion.part) ? criterion.part : undefined
  return criterion.kind === 'param' && criterion.param.type === 'token' && criterion.modifier === 'not'
    ? criterion
    : undefined
}

/** The codes that a resource may have instead of these; undefined where they are not known. */
function othersOf({ types, param, values }: ParamCriterion, { params, columns }: Indexer): string[] | undefined {
  const [type, ...moreTypes] = types
  if (type === undefined || moreTypes.length > 0) return undefined
  const [key, ...moreKeys] = params.keys(type, param.code)
  const isKnown = key && moreKeys.length === 0 && columns(type).usual.has(key) && codeValueSet(param, type)
  // Along the main code of a type no walk finds what has none. A boolean is no code of the set: a system before it is not implied.
  const codes = isKnown && param.code !== mainCode(type) ? closedCodes(param, type) : undefined
  if (!codes || codes.length > mostOthers) return undefined
  const named = values.map(value => queryToken(param.code, value))
  if (named.some(({ code }) => code === undefined)) return undefined
  const without = new Set(named.map(token => withoutImplied(token, param, type)?.code))
  return codes.filter(code => !without.has(code))
}
