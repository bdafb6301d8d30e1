// Answers a search: one statement finds and fetches a page, one more each for the total and for what is included.
import { int2Array, int8Array, safeInt8Array } from '../../db/arrays.ts'
import { preparedName } from '../../db/database.ts'
import type { Queryable } from '../../db/statement.ts'
import { resourceTypes } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { createLibrary, type Library } from '../terminology/library.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { createBinder } from './binder.ts'
import { withReason } from './costs.ts'
import { countMatches } from './count.ts'
import { type Hit, type HitRow, hitColumns, toHit } from './hit.ts'
import { readPage } from './page.ts'
import { type Criterion, type Cursor, type Include, partsOf, type SearchRequest } from './request.ts'
import { resolve, type Sources } from './resolve.ts'
import type { SearchOptions } from './sql-context.ts'
import { conditions } from './statement.ts'

export interface SearchResult {
  readonly matches: readonly Hit[]
  readonly included: readonly Hit[]
  /** Undefined if it was not asked for. */
  readonly total: number | undefined
  readonly next: Cursor | undefined
  readonly previous: Cursor | undefined
  readonly warnings: readonly string[]
  /** Patients named of whom the caller may see nothing; undefined if that has not been found out. */
  readonly closed: readonly string[] | undefined
}

/** Most included resources of one page. */
const mostIncluded = 1000
const mostRounds = 5

/** Runs a search. @throws Failure MALFORMED_REQUEST for values that make no sense, UNAVAILABLE when it takes too long. */
export async function runSearch(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<SearchResult> {
  try {
    return await runResolved(on, await resolve(request, sourcesOf(on, options)), options)
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

const nowhere = { next: undefined, previous: undefined, closed: undefined }

async function runResolved(on: Queryable, request: SearchRequest, options: SearchOptions): Promise<SearchResult> {
  const total =
    request.total === 'none' && request.summary !== 'count' ? undefined : await countMatches(on, request, options)
  if (request.summary === 'count') return { matches: [], included: [], total, ...nowhere, warnings: request.warnings }
  const page = await readPage(on, request, options)
  const found = await include(on, request, page.rows, options)
  return {
    closed: page.closed,
    matches: page.rows.map(toHit),
    included: found.rows.map(toHit),
    total,
    next: page.next,
    previous: page.previous,
    warnings: found.isCut
      ? [...request.warnings, `More than ${mostIncluded} resources would be included; the rest was left out.`]
      : request.warnings,
  }
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
    select r.type, r.id from (select s.key from search s where ${where} offset 0) found join resource r using (key)
    limit ${context.bind(limit)}`
  const rows = await on.query<{ type: number; id: string }>({ text, values: context.values })
  return rows.map(row => ({ type: typeName(row.type), id: row.id }))
}

// Included resources are found page-wise over keys, one statement for each include, never one for each resource.
async function include(
  on: Queryable,
  request: SearchRequest,
  matches: readonly HitRow[],
  options: SearchOptions,
): Promise<{ rows: HitRow[]; isCut: boolean }> {
  const seen = new Map(matches.map(row => [row.key, row]))
  const found: HitRow[] = []
  let from: readonly HitRow[] = matches
  for (let round = 0; round < mostRounds && from.length > 0; round++) {
    const includes = request.includes.filter(each => round === 0 || each.iterate)
    const fresh: HitRow[] = []
    for (const each of includes) {
      const sources = each.iterate && round === 0 ? [...from, ...fresh] : from
      for (const row of await follow(on, each, sources, options)) {
        if (seen.has(row.key)) continue
        if (found.length >= mostIncluded) return { rows: found, isCut: true }
        seen.set(row.key, row)
        found.push(row)
        fresh.push(row)
      }
    }
    from = fresh
  }
  return { rows: found, isCut: false }
}

function follow(
  on: Queryable,
  { source, param, target, reverse }: Include,
  from: readonly HitRow[],
  options: SearchOptions,
): Promise<HitRow[]> {
  const params = param
    ? [param]
    : [...options.indexer.params.of(source).values()].filter(each => each.type === 'reference')
  const salts = [
    ...new Set(params.flatMap(each => options.indexer.params.keys(source, each.code)).map(key => key.salt)),
  ]
  const holders = reverse
    ? from.filter(row => !target || typeName(row.type) === target)
    : from.filter(row => typeName(row.type) === source)
  const shown = reverse
    ? [source]
    : target
      ? [target]
      : [...new Set(params.flatMap(each => each.targets ?? resourceTypes))]
  const allowed = shown.filter(options.maySee)
  if (holders.length === 0 || salts.length === 0 || allowed.length === 0) return Promise.resolve([])
  const binder = createBinder()
  binder.bind(safeInt8Array(holders.map(row => row.key)))
  binder.bind(int8Array(salts))
  binder.bind(int2Array(allowed.map(typeNumber)))
  binder.bind(mostIncluded + 1)
  const conditions = seen('t', { ...binder, visibility: options.visibility }).map(each => ` and ${each}`)
  const text = (reverse ? reverseText : forwardText)(conditions.join(''))
  return on.query<HitRow>({ name: preparedName(text), isFixed: true, text, values: binder.values })
}

const forwardText = (more: string): string => `select distinct on (r.key) ${hitColumns}
  from search s, unnest(s.refs) as ref, unnest($2::bigint[]) as salt, search t, resource r
  where s.key = any($1::bigint[]) and t.self = ref # salt and t.type = any($3::smallint[]) and r.key = t.key${more} limit $4`

const reverseText = (more: string): string => `select distinct on (r.key) ${hitColumns}
  from search t, resource r
  where t.refs && (select coalesce(array_agg(s.self # salt), '{}') from search s, unnest($2::bigint[]) as salt where s.key = any($1::bigint[]))
    and t.type = any($3::smallint[]) and r.key = t.key${more} limit $4`

/** Refuses a search over a type that the caller may not search, chains included. */
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
