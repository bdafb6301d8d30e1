// What compartments refer to that is in no patient's compartment: practitioners, organizations, medications.

import { int2Array, int8Array } from '../../db/arrays.ts'
import { prepared } from '../../db/database.ts'
import { searchParams } from '../../definitions/r4.ts'
import { Memory } from '../../lib/blocks.ts'
import { hash64 } from '../../lib/hash.ts'
import type { Piece } from '../../lib/pieces.ts'
import type { Base } from '../base.ts'
import { storedKeys } from '../index/param-paths.ts'
import { selfHash } from '../index/postings.ts'
import { createBinder, typeArray } from '../search/binder.ts'
import { type HitRow, hitColumns, hitsOf } from '../search/hit.ts'
import type { Session } from '../session.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { referenceTarget } from '../values.ts'
import { seen } from '../visibility.ts'
import { inScope, members, since } from './members.ts'
import type { EverythingRequest, Outside } from './request.ts'

/** Bodies that are read at a time where a page does not hold the whole compartment. */
const batch = 2000

/** Outside of one patient's compartment; the references are read in the bodies, so those count too that no parameter finds. */
export async function outsideOfOne(
  session: Session,
  request: EverythingRequest & { readonly patient: string },
  { types, sources, bodies, after, limit }: Outside,
): Promise<HitRow[]> {
  const targets = new Set<string>()
  const shown = { types: new Set(types), starts: new Set(types.map(type => startOf(type, 0))) }
  if (bodies) for (const body of bodies) addTargets(targets, body, shown, session.base)
  else await addAllTargets(targets, session, { ...request, types: sources }, shown)
  if (targets.size === 0) return []
  const binder = createBinder()
  const { bind } = binder
  const conditions = [
    `t.self = any(${bind(int8Array([...targets].map(hash64)))}::bigint[])`,
    `t.type = any(${typeArray(types, { bind })})`,
    `(t.patient is null or t.patient = ${bind(selfHash('Patient', request.patient))}::bigint)`,
    `t.key > ${bind(after)}::bigint`,
    ...since(request, binder),
    ...seen('t', { ...binder, visibility: session.principal.visibility }),
  ]
  const text = `select ${hitColumns} from search t join resource r using (shard, key) where ${conditions.join(' and ')}
    order by t.key limit ${bind(limit)}`
  return session.on.query<HitRow>({ ...prepared(text, binder, true), memory: request.memory })
}

async function addAllTargets(
  targets: Set<string>,
  session: Session,
  request: EverythingRequest & { readonly types: readonly string[] },
  shown: Shown,
): Promise<void> {
  let after: EverythingRequest['after']
  for (;;) {
    const memory = new Memory()
    const rows = await members(session, { ...request, since: undefined, after, count: batch, memory })
    const read = rows.slice(0, batch)
    for (const row of read) addTargets(targets, row.body, shown, session.base)
    memory.giveBack()
    if (rows.length <= batch) return
    after = { part: 'compartment', key: read.at(-1)!.key }
  }
}

// Stored JSON has no spaces between its tokens, and a quotation mark within a text is escaped, so only a reference looks so. The
// search begins at a letter that is rare in JSON, which takes a third of the time.
const start = '"re'
const mark = 'ference":"'

function addTargets(targets: Set<string>, body: Piece, { types, starts }: Shown, base: Base): void {
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at)) {
    const isReference = body.startsWith(start, at - start.length)
    at += mark.length
    if (!isReference || !mayBeOf(starts, body, at)) continue
    const target = referenceTarget(body.slice(at, body.indexOf('"', at)), base)
    const slash = target?.indexOf('/') ?? -1
    if (slash > 0 && types.has(target!.slice(0, slash))) targets.add(target!)
  }
}

/** Codes of characters. */
const [hash, lastCapital] = [0x23, 0x5a]

/** False for a relative reference to another type, as most are, or within the resource: it needs no further look. */
function mayBeOf(starts: ReadonlySet<number>, body: Piece, at: number): boolean {
  const first = body.charCodeAt(at)
  if (first === hash) return false
  return first > lastCapital || starts.has(startOf(body, at))
}

/** The first three letters, which most types differ in, as a number. */
const startOf = (text: Piece, at: number): number =>
  (text.charCodeAt(at) << 16) | (text.charCodeAt(at + 1) << 8) | text.charCodeAt(at + 2)

/** Types that may be shown. */
interface Shown {
  readonly types: ReadonlySet<string>
  /** How references to them begin. */
  readonly starts: ReadonlySet<number>
}

/** Outside of every patient's compartment: what some resource of a compartment refers to by a search parameter. */
export const outsideOfAll = (session: Session, request: EverythingRequest, wanted: Outside): Promise<HitRow[]> =>
  (session.on.layout === 'distributed' ? outsideInTurns : outsideAtOnce)(session, request, wanted)

function outsideAtOnce(
  session: Session,
  request: EverythingRequest,
  { types, sources, after, limit }: Outside,
): Promise<HitRow[]> {
  const ways = types.flatMap(type => saltsTo(type, sources).map(salt => ({ type: typeNumber(type), salt })))
  const binder = createBinder()
  const { bind } = binder
  const seeing = { ...binder, visibility: session.principal.visibility }
  const numbers = bind(int2Array(ways.map(way => way.type)))
  const salts = bind(int8Array(ways.map(way => way.salt)))
  const conditions = [
    `t.type = any(${typeArray(types, { bind })})`,
    `t.key > ${bind(after)}::bigint`,
    `true = any (select true from (select s.* from search s where s.refs && named.refs offset 0) s
      where ${[inScope({ ...request, types: sources }, 's', session.indexer, binder), ...seen('s', seeing)].join(' and ')})`,
    ...since(request, binder),
    ...seen('t', seeing),
  ]
  // Each `offset 0` keeps the planner to one resource after the other: what may refer to it is worked out once, and found by its index.
  // `any` stops at the first row as `exists` does, but is planned for half of the rows: for one row, reading the whole table looks cheaper.
  const text = `select ${hitColumns} from search t join resource r using (shard, key)
      cross join lateral (
        select array_agg(t.self # way.salt) as refs from unnest(${numbers}::smallint[], ${salts}::bigint[]) as way(type, salt)
        where way.type = t.type offset 0) named
    where ${conditions.join(' and ')} order by t.key limit ${bind(limit)}`
  return session.on.query<HitRow>({ text, values: binder.values })
}

/** The same where the tables are distributed: what may be outside comes first, then which of it is referred to. */
async function outsideInTurns(session: Session, request: EverythingRequest, wanted: Outside): Promise<HitRow[]> {
  const found: number[] = []
  for (let after = wanted.after; found.length < wanted.limit; ) {
    const few = await candidates(session, request, { ...wanted, after })
    const postings = few.map(({ type, self }) =>
      saltsTo(typeName(type), wanted.sources).map(salt => BigInt(self) ^ salt),
    )
    const named = await namedAmong(session, request, wanted.sources, postings.flat())
    found.push(...few.filter((_, index) => postings[index]!.some(each => named.has(each))).map(({ key }) => key))
    if (few.length < wanted.limit) break
    after = few.at(-1)!.key
  }
  return hitsOf(session.on, found.slice(0, wanted.limit))
}

/** Resources outside of every compartment, whether anything refers to them or not. */
function candidates(session: Session, request: EverythingRequest, { types, after, limit }: Outside) {
  const binder = createBinder()
  const { bind } = binder
  const conditions = [
    `t.type = any(${typeArray(types, { bind })})`,
    `t.key > ${bind(after)}::bigint`,
    ...since(request, binder),
    ...seen('t', { ...binder, visibility: session.principal.visibility }),
  ]
  const text = `select t.key, t.type, t.self::text from search t join resource r using (shard, key)
    where ${conditions.join(' and ')} order by t.key limit ${bind(limit)}`
  return session.on.query<{ key: number; type: number; self: string }>({ text, values: binder.values })
}

/** Those of the postings by which resources of a compartment are found. */
async function namedAmong(
  session: Session,
  request: EverythingRequest,
  sources: readonly string[],
  postings: readonly bigint[],
): Promise<Set<bigint>> {
  if (postings.length === 0) return new Set()
  const binder = createBinder()
  const named = `${binder.bind(int8Array(postings))}::bigint[]`
  const conditions = [
    `s.refs && ${named}`,
    `ref = any(${named})`,
    inScope({ ...request, types: sources }, 's', session.indexer, binder),
    ...seen('s', { ...binder, visibility: session.principal.visibility }),
  ]
  const text = `select distinct ref::text from search s, unnest(s.refs) as ref where ${conditions.join(' and ')}`
  const rows = await session.on.query<{ ref: string }>({ text, values: binder.values })
  return new Set(rows.map(row => BigInt(row.ref)))
}

/** The parameters of the sources that may point at the type. */
function saltsTo(type: string, sources: readonly string[]): bigint[] {
  const salts = sources.flatMap(source =>
    [...searchParams(source).values()]
      .filter(param => param.type === 'reference' && (param.targets?.includes(type) ?? true))
      .flatMap(param => storedKeys(source, param.code).map(key => key.salt)),
  )
  return [...new Set(salts)]
}
