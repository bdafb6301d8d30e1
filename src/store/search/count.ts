// How many resources match, and may be seen: the steps by which they are counted.
import { typeNumber } from '../type-number.ts'
import { likelySeen, type Reach, type Visibility } from '../visibility.ts'
import { boundReach, canNarrow, isNarrow, lookingAt, reached } from './reach.ts'
import type { SearchRequest } from './request.ts'
import type { SearchOptions } from './sql-context.ts'
import { type Conditions, conditions, statementOf, withParts } from './statement.ts'
import { findingAll } from './steps/from-date-on.ts'
import { askReach } from './steps/reach.ts'
import type { SearchStep, Strategy } from './strategy.ts'

/** Conditions, and the rows `s` that they are about. */
type Counted = Conditions & { readonly from: string }

export interface CountRow extends Partial<Reach> {
  readonly count: number
  /** What matched, whether it may be seen or not. */
  readonly found?: number
  readonly 'QUERY PLAN'?: readonly { readonly Plan: { readonly 'Plan Rows': number } }[]
}

/** How matches are counted; more than a few thousand may be estimated, where the request is content with that. */
export function planCount(request: SearchRequest, seeing: SearchOptions): Strategy<number, CountRow> {
  const options = lookingAt(request, findingAll(request, seeing))
  const { visibility } = options
  const within = (
    reach?: Reach,
    name = reach ? 'count what the caller may see' : 'count',
  ): Strategy<number, CountRow> =>
    count(name, request, () => {
      const { context, where } = conditions(request, reach ? { ...options, isOfFewRows: true } : options)
      return { context, where, from: reach ? `${reached(request, boundReach(reach, context), context)} s` : 'search s' }
    })
  if (!visibility || request.criteria.some(isNarrow)) return within()
  return [
    ...(canNarrow(request, options) ? [askReach<number, CountRow>(request, options, within)] : []),
    ...(isAll(request, options) ? [] : [countFew(request, options, visibility)]),
    ...(request.total === 'estimate' ? within(undefined, byAllGrants) : [countMany(request, options, visibility)]),
  ]
}

const estimateFrom = 10_000

/** Counts, and estimates what is too much to be counted if the request allows it. */
function count(name: string, { total }: SearchRequest, counted: () => Counted): Strategy<number, CountRow> {
  const isCapped = total === 'estimate'
  const statement = () => {
    const { context, from, where } = counted()
    const limit = isCapped ? ` limit ${estimateFrom + 1}` : ''
    const text = `select count(*) as count from (select 1 from ${from} where ${where}${limit}) matches`
    return { text: withParts(text, context), values: context.values }
  }
  if (!isCapped) return [{ name, statement, read: ([row]) => row!.count }]
  const givesUp = `more than ${estimateFrom} resources match`
  return [
    { name, givesUp, statement, read: ([row]) => (row!.count > estimateFrom ? undefined : row!.count) },
    estimate(counted),
  ]
}

/** What the planner expects, good enough for "about how many" there are beyond what is counted. */
const estimate = (counted: () => Counted): SearchStep<number, CountRow> => ({
  name: 'estimate',
  statement() {
    const { context, from, where } = counted()
    const text = withParts(`select 1 from ${from} where ${where}`, context)
    return { text: `explain (format json) ${text}`, values: context.values }
  },
  read: ([row]) => Math.max(estimateFrom + 1, row!['QUERY PLAN']![0]!.Plan['Plan Rows']),
})

const byAllGrants = 'count by all grants at once'

/** Most matches whose visibility is checked one by one: beyond, it is cheaper to check all grants at once. */
const countedSingly = 500

/** True if everything of a type is counted for a caller who sees much: then it is no use to try whether there is little. */
const isAll = ({ criteria }: SearchRequest, { sketch }: SearchOptions): boolean =>
  criteria.length === 0 && sketch?.isMany === true

/** Counts matches, and looks at the visibility of each. */
const countFew = (
  request: SearchRequest,
  options: SearchOptions,
  visibility: Visibility,
): SearchStep<number, CountRow> => ({
  name: 'count by the grants of each match',
  givesUp: `more than ${countedSingly} resources match, seen or not`,
  statement() {
    // What the search goes through on its way, as chains do, must be seen all the same.
    const { context, where } = conditions(request, options, 's.type', () => [])
    const isSeen = visibility.resource('s', context)
    const text = `with matches as materialized (select s.type, s.subject, s.author, s.about, s.tokens from search s where ${where}),
      first as (select * from matches limit ${context.bind(countedSingly + 1)})
    select f.found, (select count(*) from first s where f.found <= ${countedSingly} and ${isSeen}) as count
    from (select count(*) as found from first) f`
    return statementOf(text, context)
  },
  read: ([row]) => (row!.found! > countedSingly ? undefined : row!.count),
})

/** Counts matches by what decides for most of them, which an index has, and looks at the others. */
const countMany = (
  request: SearchRequest,
  options: SearchOptions,
  visibility: Visibility,
): SearchStep<number, CountRow> => ({
  name: byAllGrants,
  statement() {
    const { context, where } = conditions(request, options, 's.type', () => [])
    const { surely, maybe } = visibility.divided('s', request.types.map(typeNumber), context)
    const rows = [where, ...(options.sketch?.field ? likelySeen('s', context) : [])].join(' and ')
    const text = `with looked as materialized (
        select count(*) filter (where s.is_sure) as sure, array_agg(s.key) filter (where not s.is_sure) as others
        from (select s.key, case when ${surely} then true when ${maybe} then false end as is_sure from search s where ${rows} offset 0) s
      ), judged as materialized (
        select count(*) as seen from search s where s.key = any((select others from looked)::bigint[]) and ${visibility.resource('s', context)}
      )
      select looked.sure + judged.seen as count from looked, judged`
    return { text: withParts(text, context), values: context.values }
  },
  read: ([row]) => row!.count,
})
