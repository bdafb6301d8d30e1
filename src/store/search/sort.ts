// What results are ordered by, and how a page continues where the last one ended: keyset paging, never an offset.
import type { SearchParamModel } from '../../definitions/model.ts'
import { Failure } from '../../lib/failure.ts'
import { clinicalDate } from '../index/clinical-date.ts'
import type { Indexer } from '../index/entry.ts'
import { jsonPath } from '../index/param-paths.ts'
import { typeArray } from './binder.ts'
import { codeGroups, groupOf } from './code-groups.ts'
import type { Cursor, SearchRequest, SortKey } from './request.ts'
import type { SqlContext } from './sql-context.ts'
import { dateInstead } from './undated.ts'

export interface Order {
  readonly expression: string
  /** Type of the expression in SQL. */
  readonly type: 'bigint' | 'double precision' | 'timestamptz' | 'text collate "C"'
  readonly descending: boolean
  /** True if the expression reads the table resource under the alias u. */
  readonly usesResource: boolean
  /** True if that is a text of the resource, whose order no index has. */
  readonly usesText?: true
  /** True if the expression needs the row of search, or looks for narrow rows of it. */
  readonly usesNarrow?: true
}

/** The rows of a part `found` of the statement, as `s`: where more of them is needed, or narrow rows, joined to `search`, whose node has them. */
export const foundRows = (orders: readonly Order[]): string =>
  orders.some(each => each.usesNarrow) ? 'found f0 join search s on s.shard = f0.shard and s.key = f0.key' : 'found s'

/** Sorts after, or before, every real value, so that resources without one come last in either direction. */
const lastText = '\u{10FFFF}'

/** Where resources without a date stand, the oldest first: after every date. */
export const undatedPlace = '9000000000000000'

/** What stands for no value at all. */
export function valueOfMissing({ param, descending }: SortKey): string {
  if (isOfSpans(param)) return descending ? '-Infinity' : 'Infinity'
  return descending ? '' : lastText
}

/** True for dates, numbers and quantities, whose values are in the table `span`. */
export const isOfSpans = ({ type }: SearchParamModel): boolean => ['date', 'number', 'quantity'].includes(type)

/** True for a sort by a text of the resource itself, such as a code, which many may share. */
const isOfText = ({ param }: SortKey): boolean => !isOfSpans(param) && param.type !== 'string' && param.code !== '_id'

/** True if the newest clinical date comes first where the sort says no more: without a sort, and among those that share a text. */
const endsWithNewest = (sort: readonly SortKey[]): boolean => sort.length === 0 || isOfText(sort.at(-1)!)

/** How many values give a place in the order. */
export const placeLength = (sort: readonly SortKey[]): number => sort.length + (endsWithNewest(sort) ? 1 : 0)

/** The newest clinical date first. */
export const newestFirst = (row: string): Order => ({
  ...{ expression: `${row}.date`, type: 'bigint', descending: true, usesResource: false },
})

/** The orders of the further keys, where the first one has an order that an index has; none if there is no other key. */
export const ordersAfterFirst = ({ sort: [, ...rest], types }: SearchRequest, context: SqlContext): Order[] =>
  rest.length > 0 ? ordersOf({ sort: rest, types }, context) : []

/** The order of a search. */
export function ordersOf({ sort, types }: Pick<SearchRequest, 'sort' | 'types'>, context: SqlContext): Order[] {
  const orders = sort.map(key => orderOf(key, types, context))
  return endsWithNewest(sort) ? [...orders, newestFirst(context.dateRow)] : orders
}

/** True if results can be ordered by the parameter. */
export function isSortable(param: SearchParamModel, type: string): boolean {
  if (param.type === 'composite' || param.type === 'special') return false
  return isOfSpans(param) || param.type === 'string' || param.code === '_id' || !!jsonPath(param, type)
}

function orderOf(sortKey: SortKey, types: readonly string[], context: SqlContext): Order {
  const { param, descending } = sortKey
  if (param.code === '_lastUpdated')
    return {
      expression: sortKey.instead ? dateInstead(sortKey.instead) : 'u.updated_at',
      type: 'timestamptz',
      descending,
      usesResource: true,
    }
  if (param.code === '_id') return { expression: 'u.id', type: 'text collate "C"', descending, usesResource: true }
  if (types.every(each => isDateColumn(param.code, each, context.indexer))) {
    if (descending) return newestFirst(context.dateRow)
    const expression = `case when s.date < -${undatedPlace} then ${undatedPlace} else s.date end`
    return { expression, type: 'bigint', descending, usesResource: false }
  }
  if (isOfSpans(param)) return spanOrder(sortKey, types, context)
  if (param.type === 'string') return wordOrder(sortKey, types, context)
  return codeOrder(sortKey, types, context) ?? bodyOrder(sortKey, types, context)
}

/** The parameter of this name of another type. */
const paramOf = ({ code }: SearchParamModel, type: string, { indexer }: SqlContext): SearchParamModel =>
  indexer.params.find(type, code)!

/** True for the code of the clinical date of the type, if a column holds that date whole. */
export const isDateColumn = (code: string, type: string, indexer: Indexer): boolean =>
  code === clinicalDate(type) && indexer.columns(type).date === code

/** The rows `v` of a parameter for the row `s`. */
function ofParam({ param }: SortKey, types: readonly string[], { indexer, bind }: SqlContext): string {
  const numbers = types.flatMap(type => indexer.params.keys(type, param.code)).map(key => key.number)
  return `v.shard = s.shard and v.key = s.key and v.param = any(${bind(numbers)}::integer[])`
}

function spanOrder(sortKey: SortKey, types: readonly string[], context: SqlContext): Order {
  const { param, descending } = sortKey
  const missing = `'${valueOfMissing(sortKey)}'::double precision`
  const value = descending ? 'max(v.high)' : 'min(v.low)'
  const ofRows = `coalesce((select ${value} from span v where ${ofParam(sortKey, types, context)} and v.token = 0), ${missing})`
  const held = types.filter(type => isDateColumn(param.code, type, context.indexer))
  const ofColumn = `case when s.date < -${undatedPlace} then ${missing} else ${descending ? 's.date_high' : 's.date'} end`
  return {
    expression:
      held.length === 0
        ? ofRows
        : `case when s.type = any(${typeArray(held, context)}) then ${ofColumn} else ${ofRows} end`,
    type: 'double precision',
    descending,
    usesResource: false,
    usesNarrow: true,
  }
}

function wordOrder(sortKey: SortKey, types: readonly string[], context: SqlContext): Order {
  const { descending } = sortKey
  const value = descending ? 'max' : 'min'
  const expression = `coalesce((select ${value}(v.folded) from word v where ${ofParam(sortKey, types, context)}), '${valueOfMissing(sortKey)}') collate "C"`
  return { expression, type: 'text collate "C"', descending, usesResource: false, usesNarrow: true }
}

/** The order of codes that the index tells apart. */
function codeOrder(key: SortKey, types: readonly string[], context: SqlContext): Order | undefined {
  const missing = valueOfMissing(key)
  const [type, ...others] = types
  const groups = others.length === 0 ? codeGroups(key, type!, context.indexer, missing) : undefined
  return (
    groups && {
      expression: `coalesce(${groupOf(groups, context)}, '${missing}') collate "C"`,
      ...{ type: 'text collate "C"', descending: key.descending, usesResource: false, usesNarrow: true },
    }
  )
}

// Other codes are not kept in readable form by the index, so their order comes from the resource itself.
function bodyOrder(sortKey: SortKey, types: readonly string[], context: SqlContext): Order {
  const { param, descending } = sortKey
  const byPath = Map.groupBy(types, type => (jsonPath(paramOf(param, type, context), type) ?? []).join('.'))
  const cases = [...byPath].map(([path, those]) => ({ path: `${context.bind(path.split('.'))}::text[]`, those }))
  const [first, ...others] = cases
  const path = others.reduce(
    (rest, each) => `case when s.type = any(${typeArray(each.those, context)}) then ${each.path} else ${rest} end`,
    first!.path,
  )
  // json, not jsonb: it does not read the numbers on its way, and a decimal of FHIR may be larger than any of PostgreSQL's.
  const expression = `coalesce(u.body::json #>> ${path}, '${valueOfMissing(sortKey)}') collate "C"`
  return { expression, type: 'text collate "C"', descending, usesResource: true, usesText: true }
}

/** True if the page is read against the order, from its end to its beginning. */
export const isBackward = (cursor: Cursor | undefined): boolean => cursor?.direction === 'previous'

/** `order by` over the named columns k0, k1… and key, which is left out where equals may stay equal. */
export function orderBy(
  orders: readonly Order[],
  names: readonly string[],
  key: string | undefined,
  backward: boolean,
): string {
  const direction = (descending: boolean): string => (descending !== backward ? 'desc' : 'asc')
  const last = orders.at(-1)!.descending
  const parts = orders.map((order, index) => `${names[index]} ${direction(order.descending)}`)
  return `order by ${[...parts, ...(key === undefined ? [] : [`${key} ${direction(last)}`])].join(', ')}`
}

/** The condition that a row lies beyond the cursor. */
export function beyond(cursor: Cursor, orders: readonly Order[], key: string, context: SqlContext): string {
  const backward = isBackward(cursor)
  const keys = [
    ...orders.map((order, index) => ({
      expression: order.expression,
      value: bound(cursor.values[index]!, order, context),
      descending: order.descending,
    })),
    { expression: key, value: `${context.bind(cursor.key)}::bigint`, descending: orders.at(-1)!.descending },
  ]
  const sign = (descending: boolean): string => (descending !== backward ? '<' : '>')
  if (keys.every(each => each.descending === keys[0]!.descending)) {
    return `(${keys.map(each => each.expression).join(', ')}) ${sign(keys[0]!.descending)} (${keys.map(each => each.value).join(', ')})`
  }
  return keys.reduceRight((rest, each) => {
    const past = `${each.expression} ${sign(each.descending)} ${each.value}`
    return rest ? `(${past} or (${each.expression} = ${each.value} and ${rest}))` : past
  }, '')
}

/** The condition that a row stands at the first value of the cursor, or beyond it. */
export function notBefore(cursor: Cursor, first: Order, context: SqlContext): string {
  const sign = first.descending !== isBackward(cursor) ? '<=' : '>='
  return `${first.expression} ${sign} ${bound(cursor.values[0]!, first, context)}`
}

function bound(value: string, { type }: Order, { bind }: SqlContext): string {
  if (!fits[type](value))
    throw new Failure('MALFORMED_REQUEST', 'The page link is not valid for this order: repeat the search.', {
      details: [{ field: '_cursor', code: 'invalid', message: 'The page link is not valid for this order.' }],
    })
  return `${bind(value)}::${type === 'text collate "C"' ? 'text' : type}`
}

// Cursors come from clients: a value that PostgreSQL could not read is refused before the query.
const fits: Readonly<Record<Order['type'], (text: string) => boolean>> = {
  bigint: text => /^-?\d{1,16}$/.test(text),
  'double precision': text => /^-?(?:Infinity|\d[\d.e+-]*)$/.test(text) && !Number.isNaN(Number(text)),
  timestamptz: text =>
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d$/.test(text) && Number.isFinite(Date.parse(`${text}:00`)),
  'text collate "C"': () => true,
}
