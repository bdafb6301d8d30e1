// The newest observations of each kind among those that a search finds (https://hl7.org/fhir/R4/observation-operation-lastn.html).
import { safeInt8Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { isObject, objectsIn } from '../lib/json.ts'
import { shardSql } from './index/shard.ts'
import { type Hit, type HitRow, hitColumns, toHit } from './search/hit.ts'
import type { SearchRequest } from './search/request.ts'
import { resolve } from './search/resolve.ts'
import { sourcesOf } from './search/run.ts'
import type { SearchOptions } from './search/sql-context.ts'
import { conditions, withParts } from './search/statement.ts'

interface Candidate {
  readonly key: number
  readonly code: string | null
}

/** Most observations that are looked through, from the newest on. */
const mostCandidates = 10_000

/** At most `max` observations of each kind, kinds in the order of their newest one, each kind newest first. */
export async function lastn(
  on: Queryable,
  request: SearchRequest,
  max: number,
  options: SearchOptions,
): Promise<{ matches: Hit[]; warnings: readonly string[] }> {
  const { context, where } = conditions(await resolve(request, sourcesOf(on, options)), options)
  const candidates = await on.query<Candidate>({
    // Bodies are read of these alone: planned as one, the statement would read those of all matches, and sort what it read.
    text: withParts(
      `with newest as materialized (
        select s.shard, s.key, s.date from search s where ${where} order by s.date desc, s.key desc limit ${context.bind(mostCandidates + 1)}
      ) select n.key, (r.body::json -> 'code')::text as code from newest n join resource r using (shard, key)
      order by n.date desc, n.key desc`,
      context,
    ),
    values: context.values,
  })
  const keys = kinds(candidates.slice(0, mostCandidates)).flatMap(kind => kind.slice(0, max))
  const warnings =
    candidates.length > mostCandidates
      ? [...request.warnings, `Only the newest ${mostCandidates} matches were considered: narrow the search.`]
      : request.warnings
  return { matches: await inOrder(on, keys), warnings }
}

/** Observations of one kind, by their places among the candidates. */
interface Kind {
  readonly places: number[]
  /** The kind that this one turned out to be, by way of an observation with codings of both. */
  same?: Kind
}

/**
 * Observations are of one kind if they share a coding; without codings the text of their code decides. Most have a code that
 * others have letter by letter, so each code is read once.
 */
function kinds(candidates: readonly Candidate[]): number[][] {
  const byCode = new Map<string | null, Kind>()
  const byName = new Map<string, Kind>()
  for (const [place, { code }] of candidates.entries()) {
    let kind = byCode.get(code)
    if (!kind) {
      kind = kindOfNames(namesOf(code), byName)
      byCode.set(code, kind)
    }
    final(kind).places.push(place)
  }
  return [...new Set([...byCode.values()].map(final))]
    .map(({ places }) => places.sort((a, b) => a - b))
    .sort(([a], [b]) => a! - b!)
    .map(places => places.map(place => candidates[place]!.key))
}

/** The one kind that all the names have now. */
function kindOfNames(names: readonly string[], byName: Map<string, Kind>): Kind {
  const known = new Set(names.flatMap(name => byName.get(name) ?? []).map(final))
  const [kind = { places: [] }, ...others] = known
  for (const other of others) {
    for (const place of other.places) kind.places.push(place)
    other.same = kind
  }
  for (const name of names) byName.set(name, kind)
  return kind
}

function final(kind: Kind): Kind {
  let last = kind
  while (last.same) last = last.same
  return last
}

function namesOf(code: string | null): string[] {
  const concept: unknown = code === null ? undefined : JSON.parse(code)
  if (!isObject(concept)) return ['']
  const codings = objectsIn(concept['coding'])
  const names = codings
    .filter(each => each['code'] !== undefined)
    .map(each => `${each['system'] ?? ''}|${each['code']}`)
  return names.length > 0 ? names : [`~${String(concept['text'] ?? '')}`]
}

async function inOrder(on: Queryable, keys: readonly number[]): Promise<Hit[]> {
  const rows = await on.query<HitRow>({
    name: 'lastn-bodies',
    text: `select ${hitColumns} from (select key, ${shardSql('key')} as shard, place from unnest($1::bigint[]) with ordinality as given(key, place)) wanted
      join resource r using (shard, key) order by wanted.place`,
    values: [safeInt8Array(keys)],
  })
  return rows.map(toHit)
}
