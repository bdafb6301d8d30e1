// One page of matches: found, ordered and fetched by a single statement.
import { int2Array } from '../../db/arrays.ts'
import { preparedName, type Queryable } from '../../db/database.ts'
import { typeNumber } from '../type-number.ts'
import type { Cursor, SearchRequest } from './request.ts'
import type { SearchOptions } from './run.ts'
import { beyond, isBackward, type Order, orderBy, ordersOf } from './sort.ts'
import { conditionOf } from './sql.ts'
import { createBinder, type SqlContext } from './sql-context.ts'
import { isPlainToken, walkedCode } from './walk.ts'

export interface HitRow {
  readonly key: number
  readonly type: number
  readonly id: string
  readonly version: number
  readonly updated_at: Date
  readonly body: string
}

export const hitColumns = 'r.key, r.type, r.id, r.version, r.updated_at, r.body'

export interface Page {
  readonly rows: readonly HitRow[]
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
}

/** A statement in the making, and the conditions of the search on the row `s` of the table `search`. */
export interface Conditions {
  readonly context: SqlContext
  readonly where: string
}

export function conditions(request: SearchRequest, options: SearchOptions, dateRow = 's'): Conditions {
  const context: SqlContext = {
    ...createBinder(),
    indexer: options.indexer,
    base: options.base,
    alias: 1,
    dateRow,
    meetsInPostings: request.criteria.some(isPlainToken),
  }
  const numbers = request.types.map(typeNumber)
  const type =
    numbers.length === 1
      ? `s.type = ${context.bind(numbers[0])}::smallint`
      : `s.type = any(${context.bind(int2Array(numbers))}::smallint[])`
  return { context, where: [type, ...request.criteria.map(each => conditionOf(each, 's', context))].join(' and ') }
}

type PageRow = HitRow & Record<string, string>

/** Reads a page, and one match more to know whether there is another. */
export async function readPage(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<Page> {
  const posting = walkedCode(request, options.indexer)
  const { context, where } = conditions(request, options, posting === undefined ? 's' : 'c')
  const row = posting === undefined ? 's' : 'c'
  const orders = ordersOf(request, context)
  const walk = posting === undefined ? 'search s' : 'coded c join search s on s.key = c.key'
  const start = posting === undefined ? '' : `c.posting = ${context.bind(posting)}::bigint and `
  const text = pageText(request, context, { from: walk, where: start + where, key: `${row}.key`, orders })
  const rows = await on.query<PageRow>({ name: preparedName(text), text, values: context.values })
  return pageOf(rows, request, orders.length)
}

interface Search {
  readonly from: string
  readonly where: string
  /** The column that decides among equals. */
  readonly key: string
  readonly orders: readonly Order[]
}

function pageText(request: SearchRequest, context: SqlContext, { from, where, key, orders }: Search): string {
  const backward = isBackward(request.cursor)
  const names = orders.map((_order, index) => `k${index}`)
  const expressions = orders.map(order => order.expression)
  const usesResource = orders.some(order => order.usesResource)
  const scope =
    usesResource && request.types.length === 1
      ? ` and u.type = ${context.bind(typeNumber(request.types[0]!))}::smallint`
      : ''
  const place = request.cursor ? ` and ${beyond(request.cursor, orders, key, context)}` : ''
  return `
    select ${hitColumns}, ${names.map(name => `${name}::text`).join(', ')}
    from (
      select ${key}, ${expressions.map((expression, index) => `${expression} as k${index}`).join(', ')}
      from ${from}${usesResource ? ' join resource u on u.key = s.key' : ''}
      where ${where}${scope}${place}
      ${orderBy(orders, expressions, key, backward)} limit ${context.bind(request.count + 1)}
    ) page join resource r on r.key = page.key
    ${orderBy(
      orders,
      names.map(name => `page.${name}`),
      'page.key',
      backward,
    )}`
}

function pageOf(rows: PageRow[], { count, cursor: from }: SearchRequest, sortLength: number): Page {
  const backward = isBackward(from)
  const more = rows.length > count
  const shown = more ? rows.slice(0, count) : rows
  if (backward) shown.reverse()
  const hasNext = backward ? shown.length > 0 : more
  const hasPrevious = backward ? more : from !== undefined
  return {
    rows: shown,
    next: hasNext ? cursorAt(shown.at(-1), 'next', sortLength) : undefined,
    previous: hasPrevious ? cursorAt(shown[0], 'previous', sortLength) : undefined,
  }
}

function cursorAt(row: PageRow | undefined, direction: Cursor['direction'], sortLength: number): Cursor | undefined {
  return row && { direction, key: row.key, values: Array.from({ length: sortLength }, (_, index) => row[`k${index}`]!) }
}
