// What belongs to an export, as conditions on a row of the table search (https://hl7.org/fhir/uv/bulkdata/export.html).

import { int2Array, int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { cutAt } from '../../lib/text.ts'
import type { Indexer } from '../index/entry.ts'
import { shardSql } from '../index/shard.ts'
import { type Binder, createBinder, typeArray } from '../search/binder.ts'
import { parseSearch } from '../search/parse.ts'
import type { Criterion } from '../search/request.ts'
import { resolve } from '../search/resolve.ts'
import { sourcesOf, typesOf } from '../search/run.ts'
import { conditionOf } from '../search/sql.ts'
import { isInPatientCompartment, membersOf, someCompartmentCondition, waysIn } from '../search/sql-compartment.ts'
import { createAliases, type SqlContext } from '../search/sql-context.ts'
import type { OwnParam } from '../search-params/known.ts'
import { mustBeAllowed, mustBeIndexed, type Session, searchOptions } from '../session.ts'
import { typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'

/** What an export is to hold. */
export interface ExportScope {
  /** The job it is for: its lists are kept under this id. */
  readonly job: string
  /** Everything, the compartments of all patients, or those of the patients that were listed for the job. */
  readonly of: 'everything' | 'patients' | 'listed'
  readonly types: readonly string[]
  /** Only what changed after this time, and before that one (ms). */
  readonly since?: number
  readonly until?: number
  /** Searches such as `Observation?status=final`; resources of their types match one of them. */
  readonly filters: readonly string[]
}

/** The criteria of the filters of each type: one list matches as a whole. */
export type Filters = ReadonlyMap<string, readonly (readonly Criterion[])[]>

const refused = (message: string, code = 'invalid'): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field: '_typeFilter', code, message }] })

/**
 * Reads the filters strictly: one that is ignored would let too much through.
 * @throws Failure MALFORMED_REQUEST for what is no search of one exported type, INSUFFICIENT_SCOPE for types of chains.
 */
export async function readFilters(session: Session, { types, filters }: ExportScope): Promise<Filters> {
  const read = new Map<string, (readonly Criterion[])[]>()
  for (const filter of filters) {
    const [type, query] = cutAt(filter, '?')
    if (!types.includes(type))
      throw refused(`_typeFilter: "${type.slice(0, 60)}" is not a type of this export; it must look like Type?query.`)
    read.set(type, [...(read.get(type) ?? []), await readFilter(session, type, query)])
  }
  return read
}

/** The parameters of users that the filters name. */
export const usedBy = ({ indexer, defaultCount, maxCount }: Session, { filters }: ExportScope): OwnParam[] =>
  filters.flatMap(filter => {
    const [type, query] = cutAt(filter, '?')
    const options = { params: indexer.params, strict: false, defaultCount, maxCount }
    return parseSearch([type], new URLSearchParams(query), options).own
  })

async function readFilter(session: Session, type: string, query: string): Promise<readonly Criterion[]> {
  const pairs = [...new URLSearchParams(query)]
  if (pairs.length === 0) throw refused(`_typeFilter: ${type} has no search parameter.`)
  const { defaultCount, maxCount, indexer } = session
  const options = { params: indexer.params, strict: true, defaultCount, maxCount }
  const request = parseSearch([type], pairs, options)
  // One by one: a `_filter` alone may be several criteria.
  if (pairs.some(pair => parseSearch([type], [pair], options).criteria.length === 0))
    throw refused(
      `_typeFilter: a filter of ${type} contains a parameter without a value, or a result parameter such as _sort.`,
      'not-supported',
    )
  for (const each of typesOf(request)) mustBeAllowed(session, each, 's')
  await mustBeIndexed(session, request)
  const { criteria } = await resolve(request, sourcesOf(session.on, searchOptions(session)))
  return criteria
}

/** A statement in the making that looks at the row `s`. */
export function createContext(session: Session): SqlContext {
  const { indexer, base, visibility, sketch } = searchOptions(session)
  return {
    ...createBinder(),
    indexer,
    base,
    visibility,
    sketch,
    nextAlias: createAliases(),
    dateRow: 's',
    meetsInPostings: false,
  }
}

/** @throws Failure MALFORMED_REQUEST for values of filters that make no sense, which is found when they become conditions. */
export function mustMakeSense(session: Session, scope: ExportScope, filters: Filters): void {
  for (const type of filters.keys()) scopeCondition(scope, filters, [type], 's', createContext(session))
}

/** Types that one condition covers: those without a filter together, each other one by itself. */
export function groupsOf(types: readonly string[], filters: Filters): string[][] {
  const isPlain = (type: string): boolean => !filters.has(type) && type !== 'Provenance'
  const plain = types.filter(isPlain)
  return [...(plain.length > 0 ? [plain] : []), ...types.filter(type => !isPlain(type)).map(type => [type])]
}

/** The condition that the row is of the types, one group of them, and belongs to the export, its time left aside. */
export function scopeCondition(
  scope: ExportScope,
  filters: Filters,
  types: readonly string[],
  row: string,
  context: SqlContext,
): string {
  const conditions = [`${row}.type = any(${typeArray(types, context)})`]
  if (scope.of !== 'everything' && types.every(isInPatientCompartment)) {
    const about = membership(scope, types, row, context.indexer, context)
    conditions.push(types[0] === 'Provenance' ? `(${about} or ${isTraced(row)})` : about)
  }
  const wanted = filters.get(types[0]!) ?? []
  const texts = wanted.map(criteria => criteria.map(each => conditionOf(each, row, context)).join(' and '))
  if (texts.length > 0) conditions.push(`(${texts.map(text => `(${text})`).join(' or ')})`)
  return [...conditions, ...seen(row, context)].join(' and ')
}

/** Provenances that `addTraced` has found. */
const isTraced = (row: string): string => `(${row}.shard, ${row}.key) in (select t.shard, t.key from traced t)`

/** The condition that the row, which is of one of the types, is in the compartment of a patient of the export. */
export function membership(
  scope: ExportScope,
  types: readonly string[],
  row: string,
  indexer: Indexer,
  { bind }: Binder,
): string {
  if (scope.of === 'listed') return `(${row}.shard, ${row}.key) in (select m.shard, m.key from member m)`
  return someCompartmentCondition(types, row, { bind, indexer })
}

/** Patients whose postings are looked up at a time. */
const together = 500

/**
 * Puts the compartments of the patients that are listed for a job into a temporary table, each way by its own index: as
 * one condition they would make PostgreSQL look at every resource there is.
 */
export async function addMembers({ indexer }: Session, on: Queryable, job: string): Promise<void> {
  const { held, keys } = waysIn('Patient', membersOf('Patient'), indexer)
  // A patient linked from another is in the other's compartment too, but is exported only as its own record.
  const salts = keys.filter(({ type }) => type !== 'Patient').map(({ key }) => key.salt)
  const add = (rows: string, ...values: unknown[]) =>
    on.query({ text: `insert into member ${rows} on conflict do nothing`, values: [job, ...values] })
  await on.query({
    text: 'create temporary table member (key bigint primary key, shard smallint) on commit drop',
    values: [],
  })
  await add(`select s.key, s.shard from export_patient p join search s on s.shard = ${shardSql('p.self')} and s.self = p.self
    where p.job = $1 and s.type = ${typeNumber('Patient')}`)
  await add(
    `select s.key, s.shard from export_patient p join search s on s.shard = ${shardSql('p.self')} and s.patient = p.self
      where p.job = $1 and s.type = any($2::smallint[])`,
    int2Array(held.map(typeNumber)),
  )
  await add(
    `select s.key, s.shard from (
        select array_agg(p.self # salt) as postings
        from (select self, row_number() over (order by self) / ${together} as part from export_patient where job = $1) p,
          unnest($2::bigint[]) as salt
        group by p.part
      ) few join search s on s.refs && few.postings`,
    int8Array(salts),
  )
  await on.query({ text: 'analyze member', values: [] })
}
