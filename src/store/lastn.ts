// The newest observations of each kind among those that a search finds (https://hl7.org/fhir/R4/observation-operation-lastn.html).
import { safeInt8Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { isObject, objectsIn } from '../lib/json.ts'
import { type Hit, type HitRow, hitColumns, toHit } from './search/hit.ts'
import type { SearchRequest } from './search/request.ts'
import { resolve } from './search/resolve.ts'
import { sourcesOf } from './search/run.ts'
import type { SearchOptions } from './search/sql-context.ts'
import { conditions } from './search/statement.ts'

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
    text: `select s.key, (r.body::json -> 'code')::text as code from search s join resource r using (key)
      where ${where} order by s.date desc, s.key desc limit ${context.bind(mostCandidates + 1)}`,
    values: context.values,
    isLarge: true,
  })
  const keys = kinds(candidates.slice(0, mostCandidates)).flatMap(kind => kind.slice(0, max))
  const warnings =
    candidates.length > mostCandidates
      ? [...request.warnings, `Only the newest ${mostCandidates} matches were looked at: make the search narrower.`]
      : request.warnings
  return { matches: await inOrder(on, keys), warnings }
}

/** Observations are of one kind if they share a coding; without codings the text of their code decides. */
function kinds(candidates: readonly Candidate[]): number[][] {
  const kindOf = new Map<string, { keys: number[] }>()
  const all = new Set<{ keys: number[] }>()
  for (const { key, code } of candidates) {
    const names = namesOf(code)
    const known = [...new Set(names.flatMap(name => kindOf.get(name) ?? []))]
    const kind = known[0] ?? { keys: [] }
    for (const other of known.slice(1)) {
      kind.keys.push(...other.keys)
      all.delete(other)
      for (const [name, each] of kindOf) if (each === other) kindOf.set(name, kind)
    }
    kind.keys.push(key)
    all.add(kind)
    for (const name of names) kindOf.set(name, kind)
  }
  const place = new Map(candidates.map(({ key }, index) => [key, index]))
  return [...all]
    .map(({ keys }) => keys.sort((a, b) => place.get(a)! - place.get(b)!))
    .sort((a, b) => place.get(a[0]!)! - place.get(b[0]!)!)
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
    text: `select ${hitColumns} from unnest($1::bigint[]) with ordinality as wanted(key, place)
      join resource r on r.key = wanted.key order by wanted.place`,
    values: [safeInt8Array(keys)],
  })
  return rows.map(toHit)
}
