// Answers a search: one statement finds and fetches a page, and one more each computes a requested total and the included
// resources.
import type { Queryable } from '../../db/statement.ts'
import type { Memory } from '../../lib/blocks.ts'
import { Failure } from '../../lib/failure.ts'
import { createLibrary, type Library } from '../terminology/library.ts'
import { typeName } from '../type-number.ts'
import { withReason } from './costs.ts'
import { planCount } from './count.ts'
import { type Hit, toHit } from './hit.ts'
import { type Filled, filled, goneOn } from './include-pages.ts'
import { type Page, withBodies } from './page.ts'
import { plan } from './plan.ts'
import { type Criterion, type Cursor, partsOf, type SearchRequest } from './request.ts'
import { resolve, type Sources } from './resolve.ts'
import type { SearchOptions } from './sql-context.ts'
import { conditions, withParts } from './statement.ts'
import { run } from './strategy.ts'

export interface SearchResult {
  readonly matches: readonly Hit[]
  readonly included: readonly Hit[]
  /** The number of matches; undefined if it was not requested and would have to be counted. */
  readonly total: number | undefined
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
  /** The place after a match, as `next` is that after the last one; absent where includes may end the page early. */
  readonly placeAfter?: (match: number) => Cursor
  readonly warnings: readonly string[]
  /** Named patients whose data the caller may not see; undefined if not determined. */
  readonly closed: readonly string[] | undefined
}

/** Runs a search. @param memory as for `Store.search` @throws Failure MALFORMED_REQUEST for values that make no sense, UNAVAILABLE when it takes too long. */
export async function runSearch(
  on: Queryable,
  request: SearchRequest,
  options: SearchOptions,
  memory?: Memory,
): Promise<SearchResult> {
  try {
    return await runResolved(keeping(on, memory), await resolve(request, sourcesOf(on, options)), options)
  } catch (error) {
    throw withReason(error, request)
  }
}

/** Where a search, or an operation of the same caller, looks up terminology. */
export const libraryFor = (on: Queryable, options: SearchOptions): Library => createLibrary(on, options)

/** Where what a search names is looked up. */
export const sourcesOf = (on: Queryable, options: SearchOptions): Sources => ({
  library: libraryFor(on, options),
  on,
  indexer: options.indexer,
  options,
})

/** The same, whose bodies stay in the memory. */
const keeping = (on: Queryable, memory: Memory | undefined): Queryable =>
  memory ? { ...on, query: statement => on.query({ ...statement, memory }) } : on

const nothing = { matches: [], included: [], next: undefined, previous: undefined, closed: undefined }

async function runResolved(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<SearchResult> {
  const { cursor, warnings } = request
  if (request.summary === 'count') return { ...nothing, total: await run(on, planCount(request, options)), warnings }
  if (cursor?.within !== undefined) {
    const { within, ...place } = cursor
    const rest = await goneOn(on, request, { ...place, within }, options)
    if (!rest) return runResolved(on, { ...request, cursor: place }, options)
    return { ...shown(rest), total: await totalOf(on, request, undefined, options), closed: undefined, warnings }
  }
  const page = await withBodies(on, await run(on, plan(request, options)))
  const total = await totalOf(on, request, page, options)
  const placeAfter = (match: number): Cursor => page.cursorAt(match, 'next')
  const places = request.includes.length > 0 ? {} : { placeAfter }
  return { ...shown(await filled(on, request, page, options)), ...places, total, closed: page.closed, warnings }
}

const shown = ({ rows, included, next, previous }: Filled) => ({
  ...{ matches: rows.map(toHit), included: included.map(toHit), next, previous },
})

/**
 * Returns the number of matches: a page that holds them all gives it without another query, otherwise they are counted on request.
 */
async function totalOf(
  on: Queryable,
  request: SearchRequest,
  page: Page | undefined,
  options: SearchOptions,
): Promise<number | undefined> {
  if (request.total === 'none') return undefined
  if (page && !page.next && !request.cursor) return page.rows.length
  return request.total === undefined ? undefined : run(on, planCount(request, options))
}

/** The keys of the matches, at most `limit`: for conditional requests, which only ask whether there is one. */
export async function findIds(
  on: Queryable,
  request: SearchRequest,
  options: SearchOptions,
  limit: number,
): Promise<{ type: string; id: string }[]> {
  const { context, where } = conditions(await resolve(request, sourcesOf(on, options)), options)
  // `offset 0`: with the limit in sight the planner would look through rows one by one, hoping for an early match.
  const text = `
    select r.type, r.id from (select s.shard, s.key from search s where ${where} offset 0) found join resource r using (shard, key)
    limit ${context.bind(limit)}`
  const rows = await on.query<{ type: number; id: string }>({ text: withParts(text, context), values: context.values })
  return rows.map(row => ({ type: typeName(row.type), id: row.id }))
}

/** Returns the types that a search reads. @throws Failure if the caller may not search one of them, chains included. */
export function typesOf(request: SearchRequest): string[] {
  const types = new Set<string>(request.types)
  const visit = (criterion: Criterion): void => {
    if (criterion.kind === 'chain') for (const target of criterion.targets) types.add(target.type)
    if (criterion.kind === 'has') types.add(criterion.from)
    partsOf(criterion).forEach(visit)
  }
  request.criteria.forEach(visit)
  if (types.size === 0) throw new Failure('MALFORMED_REQUEST', 'The search names no resource type.')
  return [...types]
}
