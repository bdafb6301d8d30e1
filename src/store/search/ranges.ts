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
}

/** The columns of search, the lower one by the row in whose order results are read; and those of span. */
export const columnEnds = (row: string, dateRow: string): Ends => ({
  low: `${dateRow}.date`,
  high: `${row}.date_high`,
  type: 'bigint',
})
export const spanEnds: Ends = { low: 'v.low', high: 'v.high', type: 'double precision' }

/**
 * Compares a stored interval [low, high] with the interval of a query's date: equality is containment, and the comparisons test
 * whether the stored interval extends beyond the query's. Bounds on the lower end that follow from the others are written out where
 * an index on it can use them.
 */
export function dateCondition(prefix: Prefix, asked: Interval, { low, high, type }: Ends, { bind }: Binder): string {
  const from = () => `${bind(asked.low)}::${type}`
  const to = () => `${bind(asked.high)}::${type}`
  switch (prefix) {
    case 'eq':
      return `(${low} between ${from()} and ${to()} and ${high} <= ${to()})`
    case 'ne':
      return `(${low} < ${from()} or ${high} > ${to()})`
    case 'gt':
      return `${high} > ${to()}`
    case 'lt':
      return `${low} < ${from()}`
    case 'ge':
      return `(${high} > ${to()} or (${low} >= ${from()} and ${high} <= ${to()}))`
    case 'le':
      return `(${low} <= ${to()} and (${low} < ${from()} or ${high} <= ${to()}))`
    case 'sa':
      return `${low} > ${to()}`
    case 'eb':
      return `${high} < ${from()}`
    case 'ap':
      return approximately(asked, { low, high, type }, bind)
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
function approximately(asked: Interval, { low, high, type }: Ends, bind: Binder['bind']): string {
  const distance = Math.round(Math.abs(Date.now() - (asked.low + asked.high) / 2) * 0.1)
  return `(${high} >= ${bind(asked.low - distance)}::${type} and ${low} <= ${bind(asked.high + distance)}::${type})`
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
      return `(${ends.low} >= ${at(low)} and ${ends.high} < ${at(high)})`
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
