// Prefixes as conditions on a stored interval. https://hl7.org/fhir/R4/search.html#prefix
import type { Interval } from '../dates.ts'
import type { Binder } from './binder.ts'
import type { ParamOperator, Prefix } from './request.ts'
import type { QueryNumber } from './values.ts'

/** The two ends of a stored interval in SQL, and the type that keeps a comparison with them on the index. */
export interface Ends {
  readonly low: string
  readonly high: string
  readonly type: 'bigint' | 'double precision'
  /** Of the intervals that end at a value or after it, those that are looked at; absent: all. */
  readonly reaching?: Reaching | undefined
}

/**
 * Intervals that end at a date or after it. `recent`: those that begin a day before the date or later, along which a search from that date on is
 * walked; `listed`: all, in the form in which indexes find the others, which last for more than a day.
 */
export type Reaching = 'recent' | 'listed'

/** The columns of search and those of span. @param date the lower one, of the row in whose order results are read */
export const columnEnds = (row: string, date: string, reaching?: Reaching): Ends => ({
  low: date,
  high: `${row}.date_high`,
  type: 'bigint',
  reaching,
})

/** Milliseconds after which an interval is in the index of those that last (migration 0041). */
const day = 86_400_000

const isLong = (low: string, high: string): string => `${high} - ${low} > ${day}`

/** What a condition that holds of intervals that end at a value or after it is looked for with. */
function fromOn(value: string, { low, high, reaching }: Ends): string {
  if (!reaching) return ''
  const recent = `${low} >= ${value} - ${day}`
  return reaching === 'recent' ? ` and ${recent}` : ` and (${recent} or (${isLong(low, high)} and ${high} >= ${value}))`
}

/** The condition that something of a type (its number) began more than a day before a moment, and ends then or later. */
export function lasts(type: number, moment: number, { bind }: Binder): string {
  const value = `${bind(moment)}::bigint`
  return `exists (select 1 from search l where l.type = ${bind(type)}::smallint and ${isLong('l.date', 'l.date_high')}
    and l.date_high >= ${value} and l.date < ${value} - ${day})`
}

export const spanEnds: Ends = { low: 'v.low', high: 'v.high', type: 'double precision' }

/**
 * Compares a stored interval [low, high] with the interval of a query's date: equality is containment, and the comparisons test
 * whether the stored interval extends beyond the query's. Bounds on the lower end that follow from the others are written out where
 * an index on it can use them.
 */
export function dateCondition(prefix: Prefix, asked: Interval, ends: Ends, { bind }: Binder): string {
  const { low, high, type } = ends
  const from = () => `${bind(asked.low)}::${type}`
  const to = () => `${bind(asked.high)}::${type}`
  switch (prefix) {
    case 'eq':
      return `(${low} between ${from()} and ${to()} and ${high} <= ${to()})`
    case 'ne':
      return `(${low} < ${from()} or ${high} > ${to()})`
    case 'gt': {
      const end = to()
      return `(${high} > ${end}${fromOn(end, ends)})`
    }
    case 'lt':
      return `${low} < ${from()}`
    case 'ge': {
      const [begin, end] = [from(), to()]
      return `((${high} > ${end} or (${low} >= ${begin} and ${high} <= ${end}))${fromOn(begin, ends)})`
    }
    case 'le':
      return `(${low} <= ${to()} and (${low} < ${from()} or ${high} <= ${to()}))`
    case 'sa':
      return `${low} > ${to()}`
    case 'eb': {
      const begin = from()
      return `(${low} < ${begin} and ${high} < ${begin})`
    }
    case 'ap':
      return approximately(asked, ends, bind)
  }
}

/** `po`: the stored interval overlaps with the query's; `co`: it includes all of it (search_filter.html#ops). */
export function periodCondition(operator: ParamOperator, asked: Interval, ends: Ends, { bind }: Binder): string {
  const [from, to] = [`${bind(asked.low)}::${ends.type}`, `${bind(asked.high)}::${ends.type}`]
  return operator === 'co'
    ? `(${ends.low} <= ${from} and ${ends.high} >= ${to})`
    : `(${ends.low} <= ${to} and ${ends.high} >= ${from})`
}

/** Overlap with the query's interval, widened by a tenth of its distance from now. */
function approximately(asked: Interval, ends: Ends, bind: Binder['bind']): string {
  const distance = Math.round(Math.abs(Date.now() - (asked.low + asked.high) / 2) * 0.1)
  const at = (end: number): string => `${bind(end)}::${ends.type}`
  const [from, to] = [at(asked.low - distance), at(asked.high + distance)]
  return `(${ends.high} >= ${from} and ${ends.low} <= ${to}${fromOn(from, ends)})`
}

/** A stored magnitude, or one end of it, against a query's number: eq and ne go by its written precision, comparisons by its exact value. */
export function numberCondition(
  asked: QueryNumber,
  { bind }: Binder,
  ends: Pick<Ends, 'low' | 'high'> = spanEnds,
): string {
  const { prefix, value, low, high } = asked
  const at = (number: number): string => `${bind(number)}::double precision`
  switch (prefix) {
    case 'eq':
      return `(${ends.low} >= ${at(low)} and ${ends.low} < ${at(high)} and ${ends.high} < ${at(high)})`
    case 'ne':
      return `(${ends.low} < ${at(low)} or ${ends.high} >= ${at(high)})`
    case 'gt':
      return `${ends.high} > ${at(value)}`
    case 'lt':
      return `${ends.low} < ${at(value)}`
    case 'ge':
      return `${ends.high} >= ${at(value)}`
    case 'le':
      return `${ends.low} <= ${at(value)}`
    case 'sa':
      return `${ends.low} > ${at(value)}`
    case 'eb':
      return `${ends.high} < ${at(value)}`
    case 'ap':
      return `(${ends.high} >= ${at(value - Math.abs(value) * 0.1)} and ${ends.low} <= ${at(value + Math.abs(value) * 0.1)})`
  }
}
