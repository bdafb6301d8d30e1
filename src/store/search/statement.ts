// The parts of the statements that searches are answered by: conditions on the row `s` of search, and a page in its order.
import { prepared } from '../../db/database.ts'
import type { Statement } from '../../db/statement.ts'
import { typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { createBinder, typeArray } from './binder.ts'
import { closedColumn } from './closed.ts'
import { hitColumns } from './hit.ts'
import type { SearchRequest, Sought } from './request.ts'
import { beyond, isBackward, notBefore, type Order, orderBy } from './sort.ts'
import { conditionOf } from './sql.ts'
import { createAliases, type SearchOptions, type SqlContext } from './sql-context.ts'
import { isUndated } from './undated.ts'
import { isPlainToken } from './walk.ts'

/** A statement in the making, and the conditions of the search on the row `s` of the table `search`. */
export interface Conditions {
  readonly context: SqlContext
  readonly where: string
}

/** The type of rows that an index finds whatever their type: as an expression, for which the planner looks for no index of types. */
export const typeOfFound = '(s.type + 0)'

export function conditions(request: Sought, options: SearchOptions, typeColumn = 's.type', isSeen = seen): Conditions {
  const context = createContext(request, options, 's')
  const type = typeCondition(request, context, typeColumn)
  const criteria = request.criteria.map(each => conditionOf(each, 's', context))
  return { context, where: [type, ...criteria, ...isSeen('s', context)].join(' and ') }
}

export function createContext(
  request: Sought,
  { indexer, base, layout, visibility, sketch, reaching, isOfFewRows, isFound, isWalking }: SearchOptions,
  dateRow: string,
): SqlContext {
  const isLed = request.criteria.length === 1 && isWalking !== true
  // An engine that distributes the tables works out what it needs of other rows by itself.
  const parts = layout === 'distributed' ? {} : { parts: [] }
  const meetsInPostings = request.criteria.some(isPlainToken) && !request.criteria.some(isUndated)
  const nextAlias = createAliases()
  return {
    ...createBinder(),
    ...{
      indexer,
      base,
      layout,
      visibility,
      sketch,
      reaching,
      isOfFewRows,
      isFound,
      nextAlias,
      dateRow,
      meetsInPostings,
    },
    ...{ isLed, ...parts },
  }
}

/** The text of a statement, with the parts that its conditions look in. */
export function withParts(text: string, { parts = [] }: Pick<SqlContext, 'parts'>): string {
  if (parts.length === 0) return text
  const begins = /^\s*with /
  return `with ${parts.join(', ')}${begins.test(text) ? text.replace(begins, ', ') : ` ${text}`}`
}

/** The statement of a search, prepared under a name (`prepared`). */
export const statementOf = (text: string, context: SqlContext, isFixed = false): Statement =>
  prepared(withParts(text, context), context, isFixed)

export function typeCondition({ types }: Sought, { bind }: SqlContext, column = 's.type'): string {
  return types.length === 1
    ? `${column} = ${bind(typeNumber(types[0]!))}::smallint`
    : `${column} = any(${typeArray(types, { bind })})`
}

/** Where a page is read from, and what its rows must meet. */
export interface PageSource {
  readonly from: string
  readonly where: string
  /** The column that decides among equals, of a row that has the column `shard` as well. */
  readonly key: string
}

/** Rows of a table, and the order in which an index has them. */
interface OrderedRows {
  /** The columns and the table, as they follow `select`. */
  readonly rows: string
  readonly conditions: readonly string[]
  readonly orders: readonly Order[]
  /** As in `PageSource`. */
  readonly key: string
  /** True if the order is the first of several, and what decides among equals is worked out later: then equals of the last row are there, too. */
  readonly hasTies?: boolean
}

/** The first of these rows in the order of the answer, from the place of the cursor on, as something to select from. @param most rows */
export function firstRows(
  { cursor }: SearchRequest,
  context: SqlContext,
  { rows, conditions, orders, key, hasTies = false }: OrderedRows,
  most: number,
): string {
  const place = cursor ? [hasTies ? notBefore(cursor, orders[0]!, context) : beyond(cursor, orders, key, context)] : []
  const expressions = orders.map(({ expression }) => expression)
  return `(select ${rows} where ${[...conditions, ...place].join(' and ')}
    ${orderBy(orders, expressions, hasTies ? undefined : key, isBackward(cursor))} ${hasTies ? `fetch first ${most} rows with ties` : `limit ${most}`})`
}

/**
 * The first rows of each type of the search, and of these the first: an index has the rows of one type in order.
 * @param alias that of the table, whose column `type` is compared; the columns are those that the orders and the key name
 */
export function firstOfTypes(
  request: SearchRequest,
  context: SqlContext,
  first: OrderedRows,
  alias: string,
  most: number,
): string {
  const of = (condition: string): OrderedRows => ({ ...first, conditions: [condition, ...first.conditions] })
  const type = `${alias}.type`
  if (request.types.length === 1) return firstRows(request, context, of(typeCondition(request, context, type)), most)
  const order = orderBy(
    first.orders,
    first.orders.map(({ expression }) => expression),
    first.key,
    isBackward(request.cursor),
  )
  return `(select ${alias}.* from unnest(${typeArray(request.types, context)}) of(type)
    cross join lateral ${firstRows(request, context, of(`${type} = of.type`), most)} ${alias} ${order} limit ${most})`
}

/** The row of `search` that belongs to another row, as `s`, if it meets the conditions on it. `offset 0` keeps the planner to looking at one after the other. */
export const searchRowOf = (row: string, conditions: readonly string[]): string =>
  `cross join lateral (select s.* from search s where ${[`s.shard = ${row}.shard`, `s.key = ${row}.key`, ...conditions].join(' and ')} offset 0) s`

/** The row of `resource` that belongs to the row `s`, as `u`, likewise. */
const storedRow = (scope: string): string =>
  `cross join lateral (select u.* from resource u where u.shard = s.shard and u.key = s.key${scope} offset 0) u`

/** At least a page and one more: one of few numbers, so that each statement with it keeps its plan, which has the number in it. */
export const atLeastPage = ({ count }: SearchRequest): number =>
  [25, 50, 101, 251, 501].find(most => most > count) ?? count + 1

/** From the place of the cursor on, as a further condition on what is found: for orders by columns of `search` alone, nothing for any other. */
export function onward({ cursor }: SearchRequest, orders: readonly Order[], context: SqlContext): string {
  const isOfColumns = orders.every(each => !each.usesResource && !each.usesNarrow)
  return cursor && isOfColumns ? ` and ${beyond(cursor, orders, 's.key', context)}` : ''
}

/** A numbered page beside the one row of `counted`, whose column `found` says whether the page counts. */
export const besideCount = (counted: string, page: string): string =>
  `select counted.found, page.* from (${counted}) counted left join (${page}) page on true order by page.place`

interface Search extends PageSource {
  /** Selects what the caller may see anything of, if that is little: then the page stays empty, and is better looked for there. */
  readonly reach?: string | undefined
  readonly orders: readonly Order[]
  /** True if the rows come in the first order, along an index: then no more of them are read than the page and its ties need. */
  readonly isAlongFirst?: boolean
  /** True for a page that is part of a statement: each row has its `place` in the order, which a subquery need not keep. */
  readonly isNumbered?: boolean
}

/**
 * Returns the statement for a page, and one match more to know whether there is another. Additional results come in each row, and
 * in a row without a key if there is no match. Where the tables are distributed, the rows have no bodies (`withBodies`): a node is asked for
 * what it has, and not for what others have found.
 */
export function pageText(request: SearchRequest, context: SqlContext, search: Search): string {
  const { from, where, key, orders, reach, isAlongFirst, isNumbered = false } = search
  const shard = key.replace(/key$/, 'shard')
  const backward = isBackward(request.cursor)
  const names = orders.map((_order, index) => `k${index}`)
  const expressions = orders.map(order => order.expression)
  const usesResource = orders.some(order => order.usesResource)
  const scope =
    usesResource && request.types.length === 1
      ? ` and u.type = ${context.bind(typeNumber(request.types[0]!))}::smallint`
      : ''
  const beside = closedColumn(request.criteria, context).map(column => `${column} as closed`)
  if (reach) beside.push('(select patients from reach) as patients', '(select own from reach) as own')
  const isWhole = context.layout !== 'distributed'
  const [shown, ofPage] = isWhole
    ? [hitColumns, ' join resource r on r.shard = page.shard and r.key = page.key']
    : ['page.key', '']
  const [before, after] =
    beside.length === 0
      ? ['', '']
      : [`(select ${beside.join(', ')}) beside left join ${isWhole ? '(' : ''}`, `${isWhole ? ')' : ''} on true`]
  const place = request.cursor ? ` and ${beyond(request.cursor, orders, key, context)}` : ''
  const joined = ` join resource u on u.shard = s.shard and u.key = s.key${scope}`
  const lookedUp = isWhole ? ` ${storedRow(scope)}` : joined
  // No index has the order of a text: then each match is looked up, and sorted.
  const stored = orders[0]!.usesText ? lookedUp : joined
  const select = (more: readonly string[], joins: boolean): string => `
      select ${[key, shard, ...more].join(', ')}
      from ${from}${joins ? stored : ''}
      where ${where}${place}${reach ? ' and (select count(*) from reach) = 0' : ''}`
  const named = expressions.map((expression, index) => `${expression} as k${index}`)
  const order = orderBy(orders, expressions, key, backward)
  const limit = context.bind(request.count + 1)
  const inTurn = orders.length > 1 && (isAlongFirst || (key === 's.key' && orders.slice(1).some(isLate)))
  const tied = (): string => {
    // What decides among equals is worked out for these alone.
    const first = orderBy(orders.slice(0, 1), expressions.slice(0, 1), undefined, backward)
    const needsResource = orders[0]!.usesResource || (place !== '' && usesResource)
    return `
      select s.key, s.shard, t.k0, ${named.slice(1).join(', ')}
      from (${select(named.slice(0, 1), needsResource)} ${first} fetch first (${limit}) rows with ties) t
      ${isWhole ? searchRowOf('t', []) : 'join search s on s.shard = t.shard and s.key = t.key'}${usesResource ? lookedUp : ''}
      ${orderBy(orders, ['t.k0', ...expressions.slice(1)], 's.key', backward)} limit ${limit}`
  }
  const inOrder = orderBy(
    orders,
    names.map(name => `page.${name}`),
    'page.key',
    backward,
  )
  return `${reach ? `with reach as materialized (${reach})` : ''}
    select ${shown}, ${beside.length > 0 ? 'beside.*, ' : ''}${names.map(name => `${name}::text`).join(', ')}
      ${isNumbered ? `, row_number() over (${inOrder}) as place` : ''}
    from ${before}(${inTurn ? tied() : `${select(named, usesResource)} ${order} limit ${limit}`}
    ) page${ofPage}${after}
    ${isNumbered ? '' : inOrder}`
}

/** True for what costs more than a look at a column: a text of the resource, narrow rows of it, or which of many codes it has. */
const isLate = ({ usesResource, usesNarrow }: Order): boolean => usesResource || usesNarrow === true
