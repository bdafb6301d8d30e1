// One page of matches: found, ordered and fetched by a single statement.
import { int8Array } from '../../db/arrays.ts'
import { preparedName } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import type { ParamKey } from '../index/postings.ts'
import { type Reach, seen } from '../visibility.ts'
import { type Closed, closedOf } from './closed.ts'
import type { HitRow } from './hit.ts'
import { suitsOnePlan } from './one-plan.ts'
import { reached, reachOf, reachText } from './reach.ts'
import type { Criterion, Cursor, SearchRequest } from './request.ts'
import { beyond, isBackward, type Order, orderBy, ordersOf, valueOfMissing } from './sort.ts'
import { conditionOf } from './sql.ts'
import type { SearchOptions, SqlContext } from './sql-context.ts'
import { conditions, createContext, pageText, type Source, typeCondition } from './statement.ts'
import { needsWord } from './text-query.ts'
import { isClinicalDate, isPlainToken, walkedCodes } from './walk.ts'

export interface Page {
  readonly rows: readonly HitRow[]
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
  /** The place before or after a row of the page. */
  readonly cursorAt: (row: number, direction: Cursor['direction']) => Cursor
  /** As in the result of the search. */
  readonly closed: readonly string[] | undefined
}

type PageRow = HitRow & Closed & Partial<Reach> & Record<string, string>

/** Reads a page, and one match more to know whether there is another. */
export async function readPage(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<Page> {
  const alphabetical = alphabeticalParam(request, options)
  const ofWords = isOfWords(request)
  const isFixed = !alphabetical && !ofWords && hasOnePlan(request, options)
  if (!isFixed) {
    // Planned for its values each time, a statement that may come to nothing would cost more than one that asks before.
    const reach = await reachOf(on, request, options)
    if (reach) return readReached(on, request, options, reach)
  }
  if (ofWords || (alphabetical && request.criteria.length > 0)) {
    const page = await readFew(on, request, options)
    if (page) return page
  }
  if (alphabetical) {
    const page = await readAlphabet(on, request, options, alphabetical)
    if (page) return page
  }
  return readInOrder(on, request, options, isFixed)
}

const hasOnePlan = (request: SearchRequest, { indexer }: SearchOptions): boolean =>
  walkedCodes(request, indexer) !== undefined || suitsOnePlan(request, indexer)

async function readInOrder(
  on: Queryable,
  request: SearchRequest,
  options: SearchOptions,
  isFixed: boolean,
): Promise<Page> {
  const postings = walkedCodes(request, options.indexer)
  const { context, ...source } = postings ? walked(request, options, postings) : searched(request, options)
  const orders = ordersOf(request, context)
  const reachIfFixed = isFixed ? reachText(request, context) : undefined
  const text = pageText(request, context, { ...source, orders, reach: reachIfFixed })
  const rows = await on.query<PageRow>({ name: preparedName(text), isFixed, text, values: context.values })
  const reach = rows[0] && withinReach(rows[0])
  return reach ? readReached(on, request, options, reach) : pageOf(rows, request, orders.length)
}

const withinReach = ({ patients, own }: Partial<Reach>): Reach | undefined =>
  patients && own ? { patients, own } : undefined

const isPlainString = (criterion: Criterion): boolean =>
  criterion.kind === 'param' && criterion.param.type === 'string' && criterion.modifier === ''

/** A page of what lies within reach: all matches among it are found, and then ordered. */
async function readReached(on: Queryable, request: SearchRequest, options: SearchOptions, reach: Reach): Promise<Page> {
  const { context, where } = conditions(request, options)
  const orders = ordersOf(request, context)
  const source: Source = { from: 'found s', where: 'true', key: 's.key' }
  const text = `with found as materialized (select s.key, s.date from ${reached(request, reach, context)} s where ${where})
    ${pageText(request, context, { ...source, orders })}`
  const isFixed = request.criteria.every(
    each => isPlainToken(each) || isPlainString(each) || isClinicalDate(each, request.types[0]!),
  )
  const rows = await on.query<PageRow>({ name: preparedName(text), isFixed, text, values: context.values })
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
  const ofWords = isOfWords(request)
  // The words are those of the types already: a second index for the types would only cost.
  const { context, where } = conditions(request, options, ofWords ? '(s.type + 0)' : 's.type')
  const orders = ordersOf(request, context)
  const source: Source = { from: 'found s', where: `(select count(*) from found) <= ${fewest}`, key: 's.key' }
  const every = `select s.key, s.date from search s where ${where}`
  const limit = `limit ${context.bind(fewest + 1)}`
  // What is materialized is planned as if it were read to the end, but is read as far as the limit asks.
  const found = ofWords
    ? `every as materialized (${every}), found as materialized (select * from every ${limit})`
    : `found as materialized (${every} ${limit})`
  const text = `with ${found}
    select f.found, page.* from (select count(*) as found from found) f left join (
      select p.*, row_number() over () as place from (${pageText(request, context, { ...source, orders })}) p
    ) page on true order by page.place`
  const rows = await on.query<PageRow & { found: number }>({
    name: preparedName(text),
    text,
    values: context.values,
  })
  if (rows[0]!.found > fewest) return undefined
  return pageOf(rows, request, orders.length)
}

/** The string parameter by which results are ordered, if its texts can be walked in that order from the place of the cursor. */
function alphabeticalParam({ types, sort, cursor }: SearchRequest, { indexer }: SearchOptions): ParamKey | undefined {
  const [first, ...more] = sort
  if (types.length > 1 || more.length > 0 || first?.param.type !== 'string') return undefined
  const [key, ...others] = indexer.params.keys(types[0]!, first.param.code)
  return others.length > 0 || cursor?.values[0] === valueOfMissing(first.descending) ? undefined : key
}

/** Most texts that are walked along before matches are ordered all at once. */
const longestWalk = 20_000

/**
 * Walks along the texts in their order until the page is full: for matches so many that ordering them all would take long.
 * Undefined if the page does not fill, as the rest has no text at all, or lies too far along.
 */
async function readAlphabet(
  on: Queryable,
  request: SearchRequest,
  options: SearchOptions,
  param: ParamKey,
): Promise<Page | undefined> {
  const context = createContext(request, options, 's')
  const { descending } = request.sort[0]!
  const orders: Order[] = [{ expression: 'w.folded', type: 'text collate "C"', descending, usesResource: false }]
  const conditions = [
    typeCondition(request, context),
    ...request.criteria.map(each => conditionOf(each, 's', context)),
    ...seen('s', context),
  ]
  const place = request.cursor ? ` and ${beyond(request.cursor, orders, 'w.key', context)}` : ''
  const texts = `select w.key, w.folded, w.exact, w.param from word w where w.param = ${context.bind(param.number)}::integer${place}
    ${orderBy(orders, ['w.folded'], 'w.key', isBackward(request.cursor))} limit ${longestWalk}`
  const source: Source = {
    // Each resource stands where its first text stands, or its last in descending order.
    from: `(${texts}) w cross join lateral (
      select s.key from search s where s.key = w.key and ${conditions.join(' and ')}
        and not exists (select from word v where v.key = w.key and v.param = w.param
          and (v.folded, v.exact) ${descending ? '>' : '<'} (w.folded, w.exact)) offset 0) s`,
    where: 'true',
    key: 'w.key',
  }
  const text = pageText(request, context, { ...source, orders })
  const rows = await on.query<PageRow>({ name: preparedName(text), text, values: context.values })
  return rows.length > request.count ? pageOf(rows, request, orders.length) : undefined
}

function searched(request: SearchRequest, options: SearchOptions): Source & { context: SqlContext } {
  // Postings say of which type they are, and one patient has few of a token: a second index for the type would only cost,
  // though it looks cheap beside asking for consent.
  const isFound = request.criteria.some(isPlainToken) && suitsOnePlan(request, options.indexer)
  return { ...conditions(request, options, isFound ? '(s.type + 0)' : 's.type'), from: 'search s', key: 's.key' }
}

// `offset 0` keeps the planner to the walk: whatever it believes of the table, it looks at one row of a code after the other.
function walked(
  request: SearchRequest,
  options: SearchOptions,
  postings: readonly bigint[],
): Source & { context: SqlContext } {
  const context = createContext(request, options, 'c')
  const dated = request.criteria.filter(each => isClinicalDate(each, request.types[0]!))
  const others = request.criteria.filter(each => !dated.includes(each))
  const inner = [
    typeCondition(request, context),
    ...others.map(each => conditionOf(each, 's', context)),
    ...seen('s', context),
  ].join(' and ')
  const from = `coded c cross join lateral (select s.key, s.date_high from search s where s.key = c.key and ${inner} offset 0) s`
  const within = dated.map(each => conditionOf(each, 's', context))
  const [single, ...more] = postings
  if (more.length === 0) {
    const where = [`c.posting = ${context.bind(single)}::bigint`, ...within].join(' and ')
    return { context, from, where, key: 'c.key' }
  }
  // Each code is walked for a page of its own; a resource that has several comes once.
  const orders = ordersOf(request, context)
  const where = ['c.posting = p.posting', ...within]
  if (request.cursor) where.push(beyond(request.cursor, orders, 'c.key', context))
  const pages = `(
    select distinct w.date, w.key from unnest(${context.bind(int8Array(postings))}::bigint[]) as p(posting) cross join lateral (
      select c.date, c.key from ${from} where ${where.join(' and ')}
      ${orderBy(orders, ['c.date'], 'c.key', isBackward(request.cursor))} limit ${context.bind(request.count + 1)}) w
  ) c`
  return { context, from: pages, where: 'true', key: 'c.key' }
}

function pageOf(all: PageRow[], { count, cursor: from }: SearchRequest, sortLength: number): Page {
  const rows = all.filter(row => row.key !== null)
  const backward = isBackward(from)
  const more = rows.length > count
  const shown = more ? rows.slice(0, count) : rows
  if (backward) shown.reverse()
  const hasNext = backward ? shown.length > 0 : more
  const hasPrevious = backward ? more : from !== undefined
  const cursorAt: Page['cursorAt'] = (place, direction) => {
    const row = shown[place]!
    return { direction, key: row.key, values: Array.from({ length: sortLength }, (_, index) => row[`k${index}`]!) }
  }
  return {
    closed: closedOf(all),
    rows: shown,
    next: hasNext && shown.length > 0 ? cursorAt(shown.length - 1, 'next') : undefined,
    previous: hasPrevious && shown.length > 0 ? cursorAt(0, 'previous') : undefined,
    cursorAt,
  }
}
