// When PostgreSQL may keep the plan of a search: where it would be the same whatever the values are. Planning a page anew
// costs more than finding it.
import type { Indexer } from '../index/entry.ts'
import type { Criterion, SearchRequest } from './request.ts'
import { isClinicalDate, isNewestFirst, isPlainToken } from './walk.ts'

/**
 * True for what is asked all day: the newest of one patient, also by codes, and of a type, also by dates. One patient's
 * resources are always few, and all of these are found by one index in the order wanted or sorted in no time.
 */
export function suitsOnePlan(request: SearchRequest, indexer: Indexer): boolean {
  const [type, ...more] = request.types
  if (type === undefined || more.length > 0 || !isNewestFirst(request, type, indexer)) return false
  const others = request.criteria.filter(criterion => !isClinicalDate(criterion, type))
  const patients = others.filter(criterion => isOnePatient(criterion, type, indexer))
  if (patients.length === 0) return others.length === 0
  return others.every(criterion => patients.includes(criterion) || isPlainToken(criterion))
}

const isOnePatient = (criterion: Criterion, type: string, indexer: Indexer): boolean =>
  criterion.kind === 'param' &&
  (criterion.modifier === '' || criterion.modifier === 'Patient') &&
  criterion.values.length === 1 &&
  indexer.columns(type).patient.has(criterion.param.code)
