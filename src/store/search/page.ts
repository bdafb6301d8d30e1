// One page of matches: found, ordered and fetched by a single statement.
import { int2Array } from '../../db/arrays.ts'
import { preparedName, type Queryable } from '../../db/database.ts'
import { typeNumber } from '../type-number.ts'
import { type HitRow, hitColumns } from './hit.ts'
import type { Cursor, SearchRequest } from './request.ts'
import type { SearchOptions } from './run.ts'
import { beyond, isBackward, type Order, orderBy, ordersOf } from './sort.ts'
import { conditionOf } from './sql.ts'
import { createBinder, type SqlContext } from './sql-context.ts'
import { needsWord } from './text-query.ts'
import { isClinicalDate, isPlainToken, walkedCode } from './walk.ts'

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

export function conditions(request: SearchRequest, options: SearchOptions, typeColumn = 's.type'): Conditions {
  const context = createContext(request, options, 's')
  const type = typeCondition(request, context, typeColumn)
  return { context, where: [type, ...request.criteria.map(each => conditionOf(each, 's', context))].join(' and ') }
}

function createContext(request: SearchRequest, { indexer, base }: SearchOptions, dateRow: string): SqlContext {
  let aliases = 0
  const nextAlias = (): string => `t${++aliases}`
  return { ...createBinder(), indexer, base, nextAlias, dateRow, meetsInPostings: request.criteria.some(isPlainToken) }
}

function typeCondition({ types }: SearchRequest, { bind }: SqlContext, column = 's.type'): string {
  const numbers = types.map(typeNumber)
  return numbers.length === 1
    ? `${column} = ${bind(numbers[0])}::smallint`
    : `${column} = any(${bind(int2Array(numbers))}::smallint[])`
}

type PageRow = HitRow & Record<string, string>

/** Reads a page, and one match more to know whether there is another. */
export async function readPage(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<Page> {
  const few = isOfWords(request) ? await readFew(on, request, options) : undefined
  if (few) return few
  const posting = walkedCode(request, options.indexer)
  const { context, ...source } = posting === undefined ? searched(request, options) : walked(request, options, posting)
  const orders = ordersOf(request, context)
  const text = pageText(request, context, { ...source, orders })
  const rows = await on.query<PageRow>({ name: preparedName(text), text, values: context.values })
  return pageOf(rows, request, orders.length)
}

/** True if a word must be there: how many resources have it is not known before it is looked for. */
const isOfWords = ({ criteria }: SearchRequest): boolean =>
  criteria.some(each => each.kind === 'text' && needsWord(each.query))

/** Most matches that are all found before they are ordered. */
const fewest = 1000

/**
 * Finds the matches without regard to their order; a page of them if there are few, undefined if there are many. The planner
 * takes a word it has never met for a more frequent one than it is, and would rather look through everything in the
 * order of the answer than fetch what the index of words has. Without an order, it takes the index.
 */
async function readFew(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<Page | undefined> {
  // The words are those of the types already: a second index for the types would only cost.
  const { context, where } = conditions(request, options, '(s.type + 0)')
  const orders = ordersOf(request, context)
  const source: Source = { from: 'found s', where: 'true', key: 's.key' }
  // What is materialized is planned as if it were read to the end, but is read as far as the limit asks.
  const text = `with every as materialized (select s.key, s.date from search s where ${where}),
    found as materialized (select * from every limit ${context.bind(fewest + 1)})
    select f.found, page.* from (select count(*) as found from found) f left join (
      select p.*, row_number() over () as place from (${pageText(request, context, { ...source, orders })}) p
    ) page on true order by page.place`
  const rows = await on.query<PageRow & { found: number }>({
    name: preparedName(text),
    text,
    values: context.values,
  })
  if (rows[0]!.found > fewest) return undefined
  return pageOf(
    rows.filter(row => row.key !== null),
    request,
    orders.length,
  )
}

function searched(request: SearchRequest, options: SearchOptions): Source & { context: SqlContext } {
  return { ...conditions(request, options), from: 'search s', key: 's.key' }
}

// `offset 0` keeps the planner to the walk: whatever it believes of the table, it looks at one row of a code after the other.
function walked(request: SearchRequest, options: SearchOptions, posting: bigint): Source & { context: SqlContext } {
  const context = createContext(request, options, 'c')
  const dated = request.criteria.filter(each => isClinicalDate(each, request.types[0]!))
  const others = request.criteria.filter(each => !dated.includes(each))
  const inner = [typeCondition(request, context), ...others.map(each => conditionOf(each, 's', context))].join(' and ')
  const from = `coded c cross join lateral (select s.key, s.date_high from search s where s.key = c.key and ${inner} offset 0) s`
  const where = [
    `c.posting = ${context.bind(posting)}::bigint`,
    ...dated.map(each => conditionOf(each, 's', context)),
  ].join(' and ')
  return { context, from, where, key: 'c.key' }
}

interface Source {
  readonly from: string
  readonly where: string
  /** The column that decides among equals. */
  readonly key: string
}

interface Search extends Source {
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
