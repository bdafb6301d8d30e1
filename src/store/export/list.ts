// Lists what an export is to write: row numbers in slices, kept in the database, so that neither memory nor a restart matters.

import { int2Array, int8Array } from '../../db/arrays.ts'
import { valuePlans } from '../../db/database.ts'
import { withoutLimit } from '../../db/silence.ts'
import type { Queryable, Transactional } from '../../db/statement.ts'
import { searchParams } from '../../definitions/r4.ts'
import { storedKeys } from '../index/param-paths.ts'
import { shardSql } from '../index/shard.ts'
import { typeArray } from '../search/binder.ts'
import { isInPatientCompartment } from '../search/sql-compartment.ts'
import type { SqlContext } from '../search/sql-context.ts'
import { mustStillBeUsed, type Session } from '../session.ts'
import { typeNumber } from '../type-number.ts'
import {
  addMembers,
  createContext,
  type ExportScope,
  type Filters,
  groupsOf,
  readFilters,
  scopeCondition,
  usedBy,
} from './scope.ts'
import { addTraced } from './traced.ts'

/** Most resources of a slice. */
const mostInSlice = 2500

/**
 * Lists everything in the scope, in place of an earlier list. It does not cover what is created later; what is changed later is
 * exported as it is then.
 * @param sliceSize resources that are written at a time; a file holds whole slices.
 * @param signal ends the statement under way, which may be a long one.
 * @param note receives the number of resources, in the same transaction: if it throws, nothing is listed.
 */
export async function list(
  session: Session,
  scope: ExportScope,
  sliceSize: number,
  note: (on: Queryable, total: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const filters = await readFilters(session, scope)
  const inside = scope.of === 'everything' ? scope.types : scope.types.filter(isInPatientCompartment)
  const outside = scope.types.filter(type => !inside.includes(type))
  const size = Math.min(mostInSlice, sliceSize)
  return session.database.transaction(on =>
    endedBy(signal, session.database, on, async () => {
      // A list of many millions takes longer than any answer may.
      await on.query(withoutLimit)
      await on.query(valuePlans)
      for (const table of ['export_slice', 'export_target'])
        await on.query({ text: `delete from ${table} where job = $1`, values: [scope.job] })
      if (scope.of === 'listed') await addMembers(session, on, scope.job)
      if (scope.of !== 'everything' && inside.includes('Provenance')) await addTraced(session, on, scope)
      const listing: Listing = { session, on, scope, filters, size }
      let total = 0
      for (const types of groupsOf(inside, filters)) total += await listTypes(listing, types)
      if (outside.length > 0) await addTargets(listing, inside, outside)
      for (const types of groupsOf(outside, filters)) total += await listTargets(listing, types)
      await mustStillBeUsed({ on }, { own: usedBy(session, scope) })
      await note(on, total)
    }),
  )
}

/** Does the work on a connection; if the signal comes, PostgreSQL ends whatever statement runs on it. */
async function endedBy(signal: AbortSignal, database: Transactional, on: Queryable, work: () => Promise<void>) {
  const [row] = await on.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid', values: [] })
  const end = (): void =>
    void database.query({ text: 'select pg_cancel_backend($1::integer)', values: [row!.pid] }).catch(() => undefined)
  signal.addEventListener('abort', end)
  try {
    signal.throwIfAborted()
    await work()
  } finally {
    signal.removeEventListener('abort', end)
  }
}

interface Listing {
  readonly session: Session
  readonly on: Queryable
  readonly scope: ExportScope
  readonly filters: Filters
  readonly size: number
}

async function insertSlices({ on, scope, size }: Listing, context: SqlContext, from: string, where: string) {
  const rows = await on.query<{ count: number }>({
    text: `insert into export_slice (job, type, part, keys)
      select ${context.bind(scope.job)}::uuid, type, part, array_agg(key order by key) from (
        select s.type, s.key, ((row_number() over (partition by s.type order by s.key)) - 1) / ${size} as part
        from ${from} where ${where}
      ) found group by type, part returning cardinality(keys) as count`,
    values: context.values,
  })
  return rows.reduce((sum, row) => sum + row.count, 0)
}

function listTypes(listing: Listing, types: readonly string[]): Promise<number> {
  const { session, scope, filters } = listing
  const context = createContext(session)
  // Where type and time are the only criteria, the table itself has both.
  const isPlain = scope.of === 'everything' && !session.principal.visibility && !types.some(type => filters.has(type))
  const times = timeConditions(scope, isPlain ? 's' : 'r', context)
  const searched = times.length > 0 ? 'search s join resource r using (shard, key)' : 'search s'
  const conditions = [scopeCondition(scope, filters, types, 's', context), ...times]
  return insertSlices(listing, context, isPlain ? 'resource s' : searched, conditions.join(' and '))
}

const timestamp = (ms: number, { bind }: Pick<SqlContext, 'bind'>): string =>
  `to_timestamp(${bind(ms)}::double precision / 1000)`

function timeConditions({ since, until }: ExportScope, row: string, context: SqlContext): string[] {
  const conditions: string[] = []
  if (since !== undefined) conditions.push(`${row}.updated_at > ${timestamp(since, context)}`)
  if (until !== undefined) conditions.push(`${row}.updated_at < ${timestamp(until, context)}`)
  return conditions
}

/**
 * Finds what the resources of some types refer to outside of the compartments. What they refer to at all is put aside
 * first, each reference once, so that the planner knows how much that is: a join planned on a guess may take hours.
 */
async function addTargets(listing: Listing, inside: readonly string[], outside: readonly string[]): Promise<void> {
  const { on, filters } = listing
  const statement = (text: string) => on.query({ text, values: [] })
  await statement('create temporary table pointer (type smallint, ref bigint, is_fresh boolean) on commit drop')
  for (const types of groupsOf(inside, filters)) await addPointers(listing, types)
  await statement('analyze pointer')
  await followPointers(listing, inside, outside)
}

async function addPointers({ session, on, scope, filters }: Listing, types: readonly string[]): Promise<void> {
  const context = createContext(session)
  const source = scopeCondition(scope, filters, types, 's', context)
  const { since } = scope
  const text =
    since === undefined
      ? `insert into pointer select distinct s.type, ref, true from search s, unnest(s.refs) as ref where ${source}`
      : `insert into pointer select s.type, ref, bool_or(r.updated_at > ${timestamp(since, context)})
          from search s join resource r using (shard, key), unnest(s.refs) as ref where ${source} group by s.type, ref`
  await on.query({ text, values: context.values })
}

/** With `since`, adds what changed resources refer to, since the client may not have it yet. */
async function followPointers(
  { session, on, scope }: Listing,
  inside: readonly string[],
  outside: readonly string[],
): Promise<void> {
  const ways = inside.flatMap(type => saltsOf(type, outside).map(salt => ({ type: typeNumber(type), salt })))
  const context = createContext(session)
  const { bind } = context
  const { since } = scope
  const job = `${bind(scope.job)}::uuid`
  const isTheirs =
    scope.of === 'listed'
      ? ` and (t.patient is null or t.patient in (select p.self from export_patient p where p.job = ${job}))`
      : ''
  const isNew =
    since === undefined
      ? ''
      : ` and (pointer.is_fresh or exists (select 1 from resource u where u.shard = t.shard and u.key = t.key and u.updated_at > ${timestamp(since, context)}))`
  const text = `insert into export_target (job, key, type)
    select distinct ${job}, t.key, t.type
    from pointer
    join unnest(${bind(int2Array(ways.map(way => way.type)))}::smallint[], ${bind(int8Array(ways.map(way => way.salt)))}::bigint[])
      as way(type, salt) on way.type = pointer.type
    join search t on t.self = pointer.ref # way.salt
    where t.type = any(${typeArray(outside, { bind })})${isTheirs}${isNew}`
  await on.query({ text, values: context.values })
}

/** The reference parameters of a type that may point at one of the others. */
function saltsOf(type: string, targets: readonly string[]): bigint[] {
  const salts = [...searchParams(type).values()]
    .filter(param => param.type === 'reference' && (param.targets?.some(each => targets.includes(each)) ?? true))
    .flatMap(param => storedKeys(type, param.code).map(key => key.salt))
  return [...new Set(salts)]
}

function listTargets(listing: Listing, types: readonly string[]): Promise<number> {
  const { session, scope, filters } = listing
  const context = createContext(session)
  const condition = scopeCondition(scope, filters, types, 's', context)
  const where = `x.job = ${context.bind(scope.job)}::uuid and ${condition}`
  return insertSlices(
    listing,
    context,
    `export_target x join search s on s.shard = ${shardSql('x.key')} and s.key = x.key`,
    where,
  )
}
