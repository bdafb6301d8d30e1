// Dates, numbers and quantities as conditions: the clinical date by its columns, everything else by the table `span`.
import type { SearchParamModel } from '../../definitions/model.ts'
import { noDate } from '../index/draft.ts'
import * as postings from '../index/postings.ts'
import { typeArray } from './binder.ts'
import { unescaped } from './query-text.ts'
import { columnEnds, dateCondition, numberCondition, periodCondition, spanEnds } from './ranges.ts'
import type { ParamCriterion, Prefix } from './request.ts'
import { anyOf, numbersOf, type SqlContext } from './sql-context.ts'
import { type QueryQuantity, queryDate, queryNumber, queryQuantity } from './values.ts'

export function dateParamCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const isHeld = (type: string): boolean => context.indexer.columns(type).date === criterion.param.code
  const held = criterion.types.filter(isHeld)
  const others = criterion.types.filter(type => !isHeld(type))
  if (held.length === 0) return magnitudeCondition(criterion, row, context)
  const byColumns = columnsCondition(criterion, row, context)
  if (others.length === 0) return byColumns
  const ofHeld = `${row}.type = any(${typeArray(held, context)})`
  return `((${ofHeld} and ${byColumns}) or ${magnitudeCondition({ ...criterion, types: others }, row, context)})`
}

function columnsCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const conditions = criterion.values.map(value => {
    const { prefix, interval } = queryDate(criterion.param.code, value)
    const ends = row === 's' ? columnEnds(row, dateOf(context), context.reaching) : columnEnds(row, `${row}.date`)
    const condition = criterion.operator
      ? periodCondition(criterion.operator, interval, ends, context)
      : dateCondition(prefix, interval, ends, context)
    return reachesBack.has(prefix) ? `(${condition} and ${ends.low} > ${noDate})` : condition
  })
  return anyOf(conditions)
}

const dateOf = ({ dateRow, isFound }: SqlContext): string => (isFound ? `(${dateRow}.date + 0)` : `${dateRow}.date`)

/** The prefixes that would find resources without a date too, whose place in the order is before every date. */
const reachesBack = new Set<Prefix>(['ne', 'lt', 'le', 'eb'])

export const spanCondition = (row: string, which: string, condition: string): string =>
  `(${row}.shard, ${row}.key) in (select v.shard, v.key from span v where ${which} and ${condition})`

export function magnitudeCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const conditions = criterion.values.map(value =>
    criterion.operator
      ? periodCondition(criterion.operator, queryDate(criterion.param.code, value).interval, spanEnds, context)
      : rangeCondition(criterion.param, value, context),
  )
  return spanCondition(row, `v.param = ${numbersOf(criterion, context)} and v.token = 0`, anyOf(conditions))
}

function quantityCondition(quantity: QueryQuantity, context: SqlContext): string {
  const amount = numberCondition(quantity, context)
  if (quantity.unit === '' && !quantity.system) return amount
  return `(${amount} and ${unitCondition(quantity, context)})`
}

function unitCondition({ system, unit }: QueryQuantity, { bind }: SqlContext): string {
  const ofCode = () => `v.unit >> 32 = ${bind(postings.unitCode(unit))}::bigint`
  const ofSystem = (uri: string) => `v.unit & 4294967295 = ${bind(postings.unitSystem(uri))}::bigint`
  if (system === undefined) return `(${ofCode()} or ${ofSystem(unit)})`
  if (system === '') return ofCode()
  return unit === '' ? ofSystem(system) : `v.unit = ${bind(postings.unitNumber(system, unit))}::bigint`
}

export function rangeCondition(param: SearchParamModel, value: string, context: SqlContext): string {
  if (param.type === 'quantity') return quantityCondition(queryQuantity(param.code, value), context)
  if (param.type === 'number') return numberCondition(queryNumber(param.code, unescaped(value)), context)
  const { prefix, interval } = queryDate(param.code, value)
  return dateCondition(prefix, interval, spanEnds, context)
}
