// Searches of a caller with access to a small part of a large data set read that part, instead of everything. The caller's consents
// are still checked for each row: this only narrows.
import { isWorldly } from '../index/subject.ts'
import { patientsNamed } from '../patients.ts'
import { typeNumber } from '../type-number.ts'
import type { Reach, Seen } from '../visibility.ts'
import { type Binder, typeArray } from './binder.ts'
import type { Criterion, SearchRequest, Sought } from './request.ts'
import type { SearchOptions } from './sql-context.ts'
import { typeOfFound } from './statement.ts'

/**
 * True if it may pay to read only what the caller may see: not if the search matches few resources, or types that may be about no
 * patient, which all callers see and no patient leads to. Nor if a short while ago it was known to be much, for all patients or of one
 * of the types.
 */
export const canNarrow = ({ types, criteria }: SearchRequest, { visibility, sketch }: Seen): boolean =>
  visibility !== undefined &&
  !sketch?.isMany &&
  !types.some(type => isWorldly(type) || sketch?.wroteMuch.has(typeNumber(type))) &&
  !criteria.some(isNarrow)

/** Returns the statement for what a search may read, for one that can be narrowed. */
export const reachText = (
  { types }: Pick<SearchRequest, 'types'>,
  { visibility, ...binder }: Seen & Pick<Binder, 'bind'>,
): string => visibility!.reach(types.map(typeNumber), binder)

/** A reach as SQL for arrays: of patients, and of keys. */
export interface ReachSql {
  readonly patientArray: string
  readonly keyArray: string
}

/** A known reach. */
export const boundReach = ({ patients, own }: Reach, { bind }: Pick<Binder, 'bind'>): ReachSql => ({
  patientArray: `${bind(patients)}::bigint[]`,
  keyArray: `${bind(own)}::bigint[]`,
})

/** What the part `reach` of the statement finds. */
export const reachInStatement: ReachSql = {
  patientArray: '(select patients::bigint[] from reach)::bigint[]',
  keyArray: '(select own::bigint[] from reach)::bigint[]',
}

/** True for a criterion that few resources meet, for any caller. */
export const isNarrow = (criterion: Criterion): boolean =>
  (criterion.kind === 'param' && ['_id', 'identifier'].includes(criterion.param.code)) ||
  patientsNamed([criterion]).length > 0

/** The options for a search that few rows are looked at for, if it is one; unchanged for any other. */
export const lookingAt = (request: Sought, options: SearchOptions): SearchOptions =>
  isOfFewRows(request) ? { ...options, isOfFewRows: true } : options

/** True for a search that few rows are looked at for: those of one patient, or with an identifier. */
export const isOfFewRows = ({ criteria }: Sought): boolean =>
  criteria.some(
    each =>
      isNarrow(each) &&
      (each.kind === 'compartment' || (each.kind === 'param' && (each.modifier === '' || each.modifier === 'Patient'))),
  )

/**
 * Every row of `search` within reach, once, as something to select from. `offset 0` keeps the planner from looking through
 * the whole table in the order of the answer.
 */
export function reached(
  request: Pick<SearchRequest, 'types'>,
  { patientArray, keyArray }: ReachSql,
  { bind }: Pick<Binder, 'bind'>,
): string {
  const among = `any(${patientArray})`
  const about = `s.patient = ${among}`
  // Where the column patient is empty: a Patient itself, and what names patients by other ways than the one of its type.
  const byOtherWays = `s.patient is null and s.subject not in (0, 1) and s.subject = ${among}`
  const aboutSeveral = `s.about is not null and s.about && ${patientArray}`
  const written = `s.key = any(${keyArray})`
  const types = `any(${typeArray(request.types, { bind })})`
  const isNew = [about, byOtherWays, aboutSeveral].map(way => ` and (${way}) is not true`)
  const ways = [
    `${about} and s.type = ${types}`,
    `${byOtherWays} and s.type = ${types}`,
    // These are few already: an index for the types would only cost.
    `${aboutSeveral} and ${typeOfFound} = ${types}${isNew[0]}`,
    `${written} and ${typeOfFound} = ${types}${isNew.join('')}`,
  ]
  return `(${ways.map(way => `select s.* from search s where ${way}`).join(' union all ')} offset 0)`
}
