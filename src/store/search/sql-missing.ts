// `:missing` as a condition: by the posting of a parameter with a value, or of one without where nearly all resources have one; for
// parameters that users defined also by the values of resources that were stored before them (https://hl7.org/fhir/R4/search.html#missing).
import { int4Array, int8Array, safeInt8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import type { Indexer } from '../index/entry.ts'
import { rowsOf } from '../index/presence.ts'
import { shardArray } from '../index/shard.ts'
import { isOwn } from '../search-params/known.ts'
import { typeNumber } from '../type-number.ts'
import type { Criterion, ParamCriterion } from './request.ts'
import { anyOf, keysOf, numbersOf, postingArray, type SqlContext } from './sql-context.ts'

export function missingCondition(criterion: ParamCriterion, row: string, context: SqlContext): string {
  const isMissing = asksMissing(criterion)
  const { code } = criterion.param
  if (code === '_id' || code === '_lastUpdated') return isMissing ? 'not (true)' : 'true'
  // What contains other resources has a posting for each of their parameters.
  const table = context.shift === undefined ? tableOf(criterion, context.indexer) : undefined
  if (table && criterion.holders && !isMissing)
    return `(${row}.shard = any(${context.bind(shardArray(criterion.holders))}::smallint[]) and ${row}.key = any(${context.bind(safeInt8Array(criterion.holders))}::bigint[]))`
  const holds = posted(criterion, row, context)
  if (!table) return isMissing ? `not (${holds})` : holds
  const rows = `select 1 from ${table} v where v.shard = ${row}.shard and v.key = ${row}.key and v.param = ${numbersOf(criterion, context)}`
  if (!isMissing) return `(${holds} or exists (${rows}))`
  // `offset 0`: asked for one resource at a time. Of a parameter that is new the planner expects no rows, and would compare all with all.
  return `(not (${holds}) and not exists (${rows}${context.layout === 'distributed' ? '' : ' offset 0'}))`
}

/** That a parameter has a value, by its postings. A parameter across types is posted by each in the one way or in the other. */
function posted({ types, param }: ParamCriterion, row: string, context: SqlContext): string {
  const present: bigint[] = []
  const conditions: string[] = []
  for (const type of types) {
    const { usual } = context.indexer.columns(type)
    for (const key of context.indexer.params.keys(type, param.code)) {
      if (!usual.has(key)) present.push(key.present)
      else {
        const isThere = `not (${row}.tokens && ${postingArray(context, [key.absent])})`
        conditions.push(types.length === 1 ? isThere : `(${row}.type = ${typeNumber(type)} and ${isThere})`)
      }
    }
  }
  if (present.length > 0) conditions.unshift(`${row}.tokens && ${postingArray(context, present)}`)
  return anyOf(conditions)
}

function asksMissing({ param, values }: ParamCriterion): boolean {
  if (values.length === 1 && (values[0] === 'true' || values[0] === 'false')) return values[0] === 'true'
  throw new Failure('MALFORMED_REQUEST', `${param.code}:missing must be true or false.`)
}

/** The table whose rows show a value of the parameter, where a user defined it. */
const tableOf = ({ types, param }: ParamCriterion, { params }: Pick<Indexer, 'params'>): 'span' | 'word' | undefined =>
  types.some(type => isOwn(params.find(type, param.code))) ? rowsOf(param.type) : undefined

/** True for `:missing=false`. */
export const asksForValue = (criterion: Criterion): criterion is ParamCriterion =>
  criterion.kind === 'param' &&
  criterion.modifier === 'missing' &&
  criterion.values.length === 1 &&
  criterion.values[0] === 'false'

/** True for what asks for resources with a value that two indexes have: which of them to begin with depends on how many these are. */
export const asksForHolders = (criterion: Criterion, indexer: Indexer): criterion is ParamCriterion =>
  asksForValue(criterion) &&
  tableOf(criterion, indexer) !== undefined &&
  criterion.types.every(type => isOwn(indexer.params.find(type, criterion.param.code)))

/** Most resources that are looked up one by one. */
const mostHolders = 1000

/** The row numbers of the resources with a value; undefined if they are too many. */
export async function findHolders(
  criterion: ParamCriterion,
  { on, indexer }: { readonly on: Queryable; readonly indexer: Indexer },
): Promise<number[] | undefined> {
  const keys = keysOf(criterion, { indexer })
  const table = tableOf(criterion, indexer)!
  // An array that the planner does not know: it expects few, and takes the index.
  const rows = await on.query<{ key: number }>({
    name: `holders-${table}`,
    text: `with marked as materialized (select s.key from search s where s.tokens && (select $1::bigint[])),
        others as materialized (select v.key from ${table} v where v.param = any($2::integer[]))
      select key from marked union all select key from others limit ${mostHolders + 1}`,
    values: [int8Array(keys.map(key => key.present)), int4Array(keys.map(key => key.number))],
  })
  return rows.length > mostHolders ? undefined : rows.map(({ key }) => key)
}
