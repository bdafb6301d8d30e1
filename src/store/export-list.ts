// Lists what an export is to write: row numbers in slices, kept in the database, so that neither memory nor a restart matters.
import { int2Array, int8Array } from '../db/arrays.ts'
import { type Queryable, valuePlans } from '../db/database.ts'
import { searchParams } from '../definitions/r4.ts'
import { createContext, type ExportScope, type Filters, readFilters, scopeCondition } from './export-scope.ts'
import { storedKeys } from './param-paths.ts'
import { isInPatientCompartment } from './search/sql-compartment.ts'
import type { SqlContext } from './search/sql-context.ts'
import type { Session } from './session.ts'
import { typeNumber } from './type-number.ts'

/** Most resources of a slice. */
const mostInSlice = 5000

/**
 * Lists everything in the scope anew, and tells how many resources that are. What is created later is not in it; what
 * is changed later is written as it is then.
 * @param sliceSize resources that are written at a time; a file holds whole slices.
 */
export async function list(session: Session, scope: ExportScope, sliceSize: number): Promise<number> {
  const size = Math.min(mostInSlice, sliceSize)
  const filters = await readFilters(session, scope)
  const isOfPatients = scope.of !== 'everything'
  const inside = isOfPatients ? scope.types.filter(isInPatientCompartment) : scope.types
  const outside = scope.types.filter(type => !inside.includes(type))
  let total = 0
  await longTransaction(session, on => clear(on, scope.job))
  for (const type of inside)
    total += await longTransaction(session, on => listType(session, on, scope, filters, type, size))
  if (outside.length === 0) return total
  for (const type of inside)
    await longTransaction(session, on => addTargets(session, on, scope, filters, type, outside))
  for (const type of outside)
    total += await longTransaction(session, on => listTargets(session, on, scope, filters, type, size))
  return total
}

/** A list of many millions takes longer than any answer may. */
function longTransaction<T>(session: Session, work: (on: Queryable) => Promise<T>): Promise<T> {
  return session.database.transaction(async on => {
    await on.query({ text: 'set local statement_timeout = 0', values: [] })
    await on.query(valuePlans)
    return work(on)
  })
}

async function clear(on: Queryable, job: string): Promise<void> {
  for (const table of ['export_slice', 'export_target'])
    await on.query({ text: `delete from ${table} where job = $1`, values: [job] })
}

async function insertSlices(on: Queryable, context: SqlContext, found: Found): Promise<number> {
  const { job, type, size, from, where } = found
  const rows = await on.query<{ count: number }>({
    text: `insert into export_slice (job, type, part, keys)
      select ${context.bind(job)}::uuid, ${typeNumber(type)}, part, array_agg(key order by key) from (
        select s.key, ((row_number() over (order by s.key)) - 1) / ${size} as part from ${from} where ${where}
      ) found group by part returning cardinality(keys) as count`,
    values: context.values,
  })
  return rows.reduce((sum, row) => sum + row.count, 0)
}

interface Found {
  readonly job: string
  readonly type: string
  readonly size: number
  readonly from: string
  readonly where: string
}

function listType(
  session: Session,
  on: Queryable,
  scope: ExportScope,
  filters: Filters,
  type: string,
  size: number,
): Promise<number> {
  const context = createContext(session)
  const isPlain = scope.of === 'everything' && !filters.has(type)
  const times = timeConditions(scope, isPlain ? 's' : 'r', context)
  const condition = isPlain ? `s.type = ${typeNumber(type)}` : scopeCondition(scope, filters, type, 's', context)
  const searched = times.length > 0 ? 'search s join resource r using (key)' : 'search s'
  const found = { job: scope.job, type, size, from: isPlain ? 'resource s' : searched }
  return insertSlices(on, context, { ...found, where: [condition, ...times].join(' and ') })
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
 * What resources of a type refer to outside of the compartments: with `since`, what changed itself, and what something
 * that changed refers to, since whoever asks may not have it yet.
 */
async function addTargets(
  session: Session,
  on: Queryable,
  scope: ExportScope,
  filters: Filters,
  type: string,
  outside: readonly string[],
): Promise<void> {
  const salts = saltsOf(type, outside)
  if (salts.length === 0) return
  const context = createContext(session)
  const { bind } = context
  const { since, job } = scope
  const source = scopeCondition(scope, filters, type, 's', context)
  const isFresh = since === undefined ? 'true' : `bool_or(r.updated_at > ${timestamp(since, context)})`
  const isNew = since === undefined ? 'true' : `(fresh or u.updated_at > ${timestamp(since, context)})`
  const isHers =
    scope.of === 'listed'
      ? `(t.patient is null or t.patient in (select p.self from export_patient p where p.job = ${bind(job)}::uuid))`
      : 'true'
  const text = `insert into export_target (job, key, type)
    with pointer as (
      select ref, ${isFresh} as fresh from search s join resource r using (key), unnest(s.refs) as ref
      where ${source} group by ref
    )
    select distinct ${bind(job)}::uuid, t.key, t.type
    from pointer, unnest(${bind(int8Array(salts))}::bigint[]) as salt, search t join resource u using (key)
    where t.self = ref # salt and t.type = any(${bind(int2Array(outside.map(typeNumber)))}::smallint[])
      and ${isHers} and ${isNew}
    on conflict do nothing`
  await on.query({ text, values: context.values })
}

/** The reference parameters of a type that may point at one of the others. */
function saltsOf(type: string, targets: readonly string[]): bigint[] {
  const salts = [...searchParams(type).values()]
    .filter(param => param.type === 'reference' && (param.targets?.some(each => targets.includes(each)) ?? true))
    .flatMap(param => storedKeys(type, param.code).map(key => key.salt))
  return [...new Set(salts)]
}

function listTargets(
  session: Session,
  on: Queryable,
  scope: ExportScope,
  filters: Filters,
  type: string,
  size: number,
): Promise<number> {
  const context = createContext(session)
  const condition = scopeCondition(scope, filters, type, 's', context)
  const where = `x.job = ${context.bind(scope.job)}::uuid and x.type = ${typeNumber(type)} and ${condition}`
  return insertSlices(on, context, {
    job: scope.job,
    type,
    size,
    from: 'export_target x join search s using (key)',
    where,
  })
}
