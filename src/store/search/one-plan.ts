// When PostgreSQL may keep the plan of a search: where the plan does not depend on the values. Planning a page costs more than
// finding it.
import type { Indexer } from '../index/entry.ts'
import type { Criterion, ParamCriterion, SearchRequest } from './request.ts'
import { isOfSpans } from './sort.ts'
import { ledToPatients } from './sql-contained.ts'
import { isClinicalDate, isPlainToken } from './walk.ts'

/**
 * True for the searches for the newest of a type that are sent all day: of one patient, also by codes, and of all, also by dates.
 * One patient's resources are always few, and all of these are found by one index in the order wanted or sorted in no time.
 */
export function suitsOnePlan({ criteria }: SearchRequest, type: string, indexer: Indexer): boolean {
  const others = criteria.filter(criterion => !isClinicalDate(criterion, type))
  const rest = others.filter(criterion => !isOnePatient(criterion, type, indexer))
  return rest.length === 0 || (rest.length < others.length && rest.every(isPlainToken))
}

const isOnePatient = (criterion: Criterion, type: string, indexer: Indexer): boolean =>
  (criterion.kind === 'chain' && ledToPatients(criterion, indexer)?.length === 1) ||
  (criterion.kind === 'param' &&
    (criterion.modifier === '' || criterion.modifier === 'Patient') &&
    criterion.values.length === 1 &&
    indexer.columns(type).patient.has(criterion.param.code))

/** True for a search by one identifier, or by strings alone, such as names: an index finds the matches, as far as those are counted. */
export const isLookedUp = ({ types, criteria }: SearchRequest): boolean =>
  types.length === 1 &&
  criteria.length > 0 &&
  (criteria.every(isString) || (criteria.length === 1 && isIdentifier(criteria[0]!)))

/**
 * The string with which a search begins by strings, and by nothing else but what one row tells of a match: the longest, which fewest are likely
 * to have.
 */
export function firstString({ types, criteria }: SearchRequest): ParamCriterion | undefined {
  const strings = criteria.filter(isString)
  const isByRow = types.length === 1 && criteria.every(each => isString(each) || isPlainToken(each) || isSpan(each))
  const shortest = ({ values }: ParamCriterion): number => Math.min(...values.map(value => value.length))
  return isByRow ? strings.sort((one, other) => shortest(other) - shortest(one))[0] : undefined
}

const isSpan = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.modifier === '' && isOfSpans(criterion.param)

export const isString = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' && criterion.param.type === 'string' && stringModifiers.has(criterion.modifier)

const isIdentifier = (criterion: Criterion): boolean => isPlainToken(criterion) && criterion.param.code === 'identifier'

const stringModifiers: ReadonlySet<string> = new Set(['', 'exact', 'contains'])
