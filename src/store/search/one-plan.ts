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
  ledToPatients(criterion, indexer)?.length === 1 ||
  (criterion.kind === 'param' &&
    (criterion.modifier === '' || criterion.modifier === 'Patient') &&
    criterion.values.length === 1 &&
    indexer.columns(type).patient.has(criterion.param.code))

/** True for a search by one identifier, or by strings alone, such as names: an index finds the matches, as far as those are counted. */
export const isLookedUp = ({ types, criteria }: SearchRequest): boolean =>
  types.length === 1 &&
  criteria.length > 0 &&
  (criteria.every(isString) || (criteria.length === 1 && isIdentifier(criteria[0]!)))

/** The string with which a search of one type begins: the longest, which fewest are likely to have. */
export function firstString({ types, criteria }: SearchRequest): ParamCriterion | undefined {
  const shortest = ({ values }: ParamCriterion): number => Math.min(...values.map(value => value.length))
  const strings = criteria.filter(isString).sort((one, other) => shortest(other) - shortest(one))
  return types.length === 1 ? strings[0] : undefined
}

/** True for what a row of `search`, with its texts and values and the row of `resource`, tells by itself. */
export const isByRow = (criterion: Criterion): boolean =>
  isString(criterion) || isPlainToken(criterion) || isSpan(criterion)

/** True for a date, also that of the last change, a number or a quantity. */
const isSpan = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.modifier === '' && isOfSpans(criterion.param)

export const isString = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' && criterion.param.type === 'string' && stringModifiers.has(criterion.modifier)

export const isIdentifier = (criterion: Criterion): boolean =>
  isPlainToken(criterion) && criterion.param.code === 'identifier'

const stringModifiers: ReadonlySet<string> = new Set(['', 'exact', 'contains'])
