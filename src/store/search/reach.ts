// Searches of a caller who may see little of very much: what he may see is looked through, instead of everything for what he
// may see. What lies within reach is still asked whether he may see it: this only narrows.
import { int2Array } from '../../db/arrays.ts'
import { preparedName } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { isWorldly } from '../index/subject.ts'
import { patientsNamed } from '../patients.ts'
import { typeNumber } from '../type-number.ts'
import type { Reach, Seen } from '../visibility.ts'
import { type Binder, createBinder } from './binder.ts'
import type { Criterion, SearchRequest } from './request.ts'
import type { SearchOptions } from './sql-context.ts'

/** The statement that says what a search may look through; undefined if it asks for few resources, or for what everybody sees. */
export function reachText(
  { types, criteria }: SearchRequest,
  { visibility, ...binder }: Seen & Pick<Binder, 'bind'>,
): string | undefined {
  // What may be about nobody is seen by everybody, and no patient leads to it.
  if (!visibility || types.some(isWorldly) || criteria.some(isNarrow)) return undefined
  return visibility.reach(types.map(typeNumber), binder)
}

/** What a search may look through; undefined if it had better be answered as for somebody who sees everything. */
export async function reachOf(
  on: Queryable,
  request: SearchRequest,
  { visibility }: SearchOptions,
): Promise<Reach | undefined> {
  const binder = createBinder()
  const text = reachText(request, { ...binder, visibility })
  if (text === undefined) return undefined
  const [reach] = await on.query<Reach>({ name: preparedName(text), isFixed: true, text, values: binder.values })
  return reach
}

/** True for what few resources meet, whoever asks. */
export const isNarrow = (criterion: Criterion): boolean =>
  (criterion.kind === 'param' && ['_id', 'identifier'].includes(criterion.param.code)) ||
  patientsNamed([criterion]).length > 0

/**
 * Every row of `search` within reach, once, as something to select from. `offset 0` keeps the planner from looking through
 * the whole table in the order of the answer.
 */
export function reached(
  request: Pick<SearchRequest, 'types'>,
  { patients, own }: Reach,
  { bind }: Pick<Binder, 'bind'>,
): string {
  const among = `any(${bind(patients)}::bigint[])`
  const about = `s.patient = ${among}`
  // Where the column patient is empty: a Patient itself, and what names patients by other ways than the one of its type.
  const byOtherWays = `s.patient is null and s.subject not in (0, 1) and s.subject = ${among}`
  const aboutSeveral = `s.about is not null and s.about && ${bind(patients)}::bigint[]`
  const written = `s.key = any(${bind(own)}::bigint[])`
  const types = `any(${bind(int2Array(request.types.map(typeNumber)))}::smallint[])`
  const isNew = [about, byOtherWays, aboutSeveral].map(way => ` and (${way}) is not true`)
  const ways = [
    `${about} and s.type = ${types}`,
    `${byOtherWays} and s.type = ${types}`,
    // These are few already: an index for the types would only cost.
    `${aboutSeveral} and (s.type + 0) = ${types}${isNew[0]}`,
    `${written} and (s.type + 0) = ${types}${isNew.join('')}`,
  ]
  return `(${ways.map(way => `select s.* from search s where ${way}`).join(' union all ')} offset 0)`
}
