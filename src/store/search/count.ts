// How many resources match, and may be seen: the steps by which they are counted.
import type { Reach, Visibility } from '../visibility.ts'
import { prepared } from './page.ts'
import { canNarrow, isNarrow, reached } from './reach.ts'
import type { SearchRequest } from './request.ts'
import type { SearchOptions } from './sql-context.ts'
import { type Conditions, conditions, wideConditions } from './statement.ts'
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
export function planCount(request: SearchRequest, options: SearchOptions): Strategy<number, CountRow> {
  const { visibility } = options
  const within = (reach?: Reach): Strategy<number, CountRow> =>
    count(reach ? 'count what the caller may see' : 'count', request, () => {
      const { context, where } = conditions(request, options)
      return { context, where, from: reach ? `${reached(request, reach, context)} s` : 'search s' }
    })
  if (!visibility || request.criteria.some(isNarrow)) return within()
  return [
    ...(canNarrow(request, options) ? [askReach<number, CountRow>(request, options, within)] : []),
    countFew(request, options, visibility),
    ...count('count by all grants at once', request, () => wideConditions(request, options)),
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
    return { text, values: context.values }
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
    return { text: `explain (format json) select 1 from ${from} where ${where}`, values: context.values }
  },
  read: ([row]) => Math.max(estimateFrom + 1, row!['QUERY PLAN']![0]!.Plan['Plan Rows']),
})

/** Most matches whose visibility is checked one by one: beyond, it is cheaper to check all grants at once. */
const countedSingly = 500

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
    return prepared(text, context)
  },
  read: ([row]) => (row!.found! > countedSingly ? undefined : row!.count),
})
