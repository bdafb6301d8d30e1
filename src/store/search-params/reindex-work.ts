// What is left to index by new parameters: claimed by one process at a time, and noted as far as it is done.
import { int8Array, textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { channel } from '../epoch.ts'
import { typeNumber } from '../type-number.ts'
import type { SearchParams } from './known.ts'
import { pointers } from './reindex-bodies.ts'

/** Seconds without a heartbeat after which another process takes over. */
const leaseSeconds = 10

/** A parameter that waits for older resources of a type, and the place up to which it has them. */
export interface Waiting {
  readonly type: number
  readonly code: string
  readonly key: string
  readonly reached: string
  readonly defined_at: Date
}

/**
 * The first character of a place says what is read: the resources of the type, as none had a value when the parameter was defined; the
 * same, as some may have values of the very same definition of former days; what contains resources of the type. The rest is the place
 * in the order in which they are read.
 */
const phases = { fresh: '|', again: '}', containers: '~' } as const

/** What one step reads next. */
export interface IndexingTask {
  readonly type: number
  /** True for what contains resources of the type. */
  readonly isOfContainers: boolean
  /** The parameters that want it, each with its place among what is read. */
  readonly waiting: readonly Waiting[]
  /** The first of these places. */
  readonly after: string
  /** Resources changed since then may have values already; all of them may if it is undefined. */
  readonly indexedSince: Date | undefined
}

/** The parameters of one type that wait, claimed for this process; none if another process is at them. */
export async function claim(on: Queryable, lease: string): Promise<Waiting[]> {
  const claimed = await on.query<Omit<Waiting, 'defined_at'> & { readonly id: string }>({
    name: 'reindex-claim',
    text: `with waiting as (
        select p.type, p.code, p.lease, p.leased_until from search_parameter p
        where not p.is_ready and not exists (select 1 from search_parameter_suspension s where s.key = p.key)
      ), first as (
        select type from waiting where lease is null or lease = $1 or leased_until < now() order by type limit 1
      )
      update search_parameter p set lease = $1, leased_until = now() + make_interval(secs => ${leaseSeconds})
      from waiting w where w.type = (select type from first) and p.type = w.type and p.code = w.code and not p.is_ready
        and (p.lease is null or p.lease = $1 or p.leased_until < now())
      returning p.type, p.code, p.key, p.reached, p.id`,
    values: [lease],
  })
  if (claimed.length === 0) return []
  const defined = await definedAt(
    on,
    claimed.map(each => each.id),
  )
  return claimed.flatMap(({ id, ...each }) => (defined.has(id) ? [{ ...each, defined_at: defined.get(id)! }] : []))
}

/** When the SearchParameters with these ids were written last. */
async function definedAt(on: Queryable, ids: readonly string[]): Promise<Map<string, Date>> {
  const rows = await on.query<{ id: string; updated_at: Date }>({
    name: 'reindex-defined',
    isFixed: true,
    text: `select placed.id, r.updated_at
      from (
        select d.id, d.shard, d.key from unnest($2::text[]) with ordinality as given(id) join directory d on d.type = $1::smallint and d.id = given.id
      ) placed join resource r using (shard, key)`,
    values: [typeNumber('SearchParameter'), textArray(ids)],
  })
  return new Map(rows.map(row => [row.id, row.updated_at]))
}

const isBegun = ({ reached }: Waiting): boolean => Object.values(phases).some(each => reached.startsWith(each))

/** Gives those that are new their first place. */
export async function begun(on: Queryable, params: SearchParams, waiting: readonly Waiting[]): Promise<Waiting[]> {
  const all: Waiting[] = []
  for (const each of waiting) all.push(isBegun(each) ? each : { ...each, reached: await firstPlace(on, params, each) })
  return all
}

/** Looks whether there is any value of the parameter, such as those of the same definition before it was deleted or suspended. */
async function firstPlace(on: Queryable, params: SearchParams, { type, key }: Waiting): Promise<string> {
  const [param] = params.own().filter(each => each.key.name === key)
  if (!param) return phases.again
  const postings = [0n, ...pointers(params, param.of).map(pointer => pointer.salt)].map(
    salt => param.key.present ^ salt,
  )
  const [row] = await on.query<{ is_there: boolean }>({
    name: 'reindex-begin',
    // Materialized parts are planned to be read to the end, so by an index, but are read as far as the first row; and of an array that
    // the planner does not know, it expects few.
    text: `with tokens as materialized (select s.key from search s where s.tokens && (select $1::bigint[])),
      spans as materialized (select key from span where param = $2),
      words as materialized (select key from word where param = $2),
      first as (
        select exists (select 1 from tokens) or exists (select 1 from spans) or exists (select 1 from words) as is_there
      ), noted as (
        update search_parameter p set reached = case when first.is_there then '${phases.again}' else '${phases.fresh}' end
        from first where p.type = $3 and p.key = $4
      )
      select is_there from first`,
    values: [int8Array(postings), param.key.number, type, key],
  })
  return row!.is_there ? phases.again : phases.fresh
}

/** A minute, in milliseconds: clocks of several machines differ by less. */
const slack = 60_000

/** What is read next for the parameters of one type: its resources for all that want them, then what contains some. */
export function taskOf(waiting: readonly Waiting[]): IndexingTask {
  const own = waiting.filter(({ reached }) => !reached.startsWith(phases.containers))
  const isOfContainers = own.length === 0
  const wanted = isOfContainers ? waiting : own
  const places = wanted.map(({ reached }) => reached.slice(1))
  const mayAllHave = isOfContainers || own.some(({ reached }) => reached.startsWith(phases.again))
  return {
    type: waiting[0]!.type,
    isOfContainers,
    waiting: wanted.map((each, index) => ({ ...each, reached: places[index]! })),
    after: places.toSorted()[0]!,
    indexedSince: mayAllHave ? undefined : new Date(Math.min(...own.map(each => each.defined_at.getTime())) - slack),
  }
}

interface Done {
  readonly lease: string
  readonly task: IndexingTask
  /** True if there is nothing more to read. */
  readonly isLast: boolean
  /** The place up to which everything is indexed; undefined if that is as far as before. */
  readonly place: string | undefined
}

/** Notes how far everything is indexed. */
export async function note(on: Queryable, { lease, task, isLast, place }: Done): Promise<void> {
  const isReady = isLast && task.isOfContainers
  await on.query({
    name: 'reindex-note',
    text: `update search_parameter set is_ready = $1,
        reached = case when $2 then '${phases.containers}' else greatest(reached, left(reached, 1) || $3) end,
        leased_until = now() + make_interval(secs => ${leaseSeconds})
      where type = $4 and key = any($5::text[]) and lease = $6`,
    values: [isReady, isLast, place ?? '', task.type, textArray(task.waiting.map(each => each.key)), lease],
  })
  if (isReady) await on.query({ text: `select pg_notify('${channel}', '')`, values: [] })
}
