// The store's part of a background export: it waits for writes under way, lists what belongs to the export, and returns stored
// bodies piece by piece, a bounded amount at a time.

import { int8Array } from '../../db/arrays.ts'
import { prepared } from '../../db/database.ts'
import type { Queryable, Statement } from '../../db/statement.ts'
import { Memory } from '../../lib/blocks.ts'
import { hash64 } from '../../lib/hash.ts'
import type { Piece } from '../../lib/pieces.ts'
import { shardSql } from '../index/shard.ts'
import { placeFor } from '../runs-on.ts'
import { mustBeAllowed, type Session } from '../session.ts'
import { typeName, typeNumber } from '../type-number.ts'
import { seen } from '../visibility.ts'
import { type DeletionPage, type DeletionPlace, deletions } from './deletions.ts'
import { settle } from './fence.ts'
import { list } from './list.ts'
import { createContext, type ExportScope, mustMakeSense, readFilters } from './scope.ts'

/** Some resources of one type that are still to be written. */
export interface Slice {
  readonly job: string
  readonly type: string
  readonly part: number
  /** How many were listed; fewer are there if some were deleted since. */
  readonly size: number
}

export interface Exporting {
  /** Checks the scope. @throws Failure for filters that cannot be read, or types that the caller may not see. */
  check(scope: ExportScope): Promise<void>
  /** Those of the patients that are stored. */
  knownPatients(ids: readonly string[]): Promise<Set<string>>
  /** Names the patients of a job, in the transaction that creates it. */
  listPatients(on: Queryable, job: string, ids: readonly string[]): Promise<void>
  /** Resolves once every change up to `time` is committed and no other can come (fence.ts). */
  settle(time: Date, signal: AbortSignal): Promise<void>
  /** Lists what is in the scope, in place of an earlier list; `note` receives the number of resources, in the same transaction. */
  list(
    scope: ExportScope,
    sliceSize: number,
    note: (on: Queryable, total: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
  /** The slice to write next; undefined when all are written. */
  next(job: string): Promise<Slice | undefined>
  /**
   * The bodies of a slice as stored, those that the caller may see now, some megabytes at a time: they can be read until the next are
   * asked for.
   */
  bodies(slice: Slice): AsyncGenerator<Piece[]>
  /** Notes that a slice is written. */
  drop(on: Queryable, slice: Slice): Promise<void>
  /** Forgets what is listed for jobs that have ended. */
  forget(on: Queryable, jobs: readonly string[]): Promise<void>
  deletions(
    scope: ExportScope & { readonly since: number },
    time: Date,
    after: DeletionPlace | undefined,
  ): Promise<DeletionPage>
}

/** The part of a caller's store that exports use. */
export function createExporting(session: Session): Exporting {
  const mustSee = ({ types }: ExportScope): void => {
    for (const type of types) {
      mustBeAllowed(session, type, 'r')
      mustBeAllowed(session, type, 's')
    }
  }
  return {
    async check(scope) {
      mustSee(scope)
      mustMakeSense(session, scope, await readFilters(session, scope))
    },
    knownPatients: ids => knownPatients(session.on, ids),
    listPatients,
    settle: (time, signal) => settle(session.database, time, signal),
    async list(scope, sliceSize, note, signal) {
      mustSee(scope)
      await list(session, scope, sliceSize, note, signal)
    },
    next: job => next(session.on, job),
    bodies: slice => bodies(session, slice),
    drop,
    forget,
    deletions: (scope, time, after) => deletions(session, scope, time, after),
  }
}

async function knownPatients(on: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const rows = await on.query<{ id: string }>({
    text: 'select d.id from directory d join resource r using (shard, key) where d.type = $1 and d.id = any($2::text[])',
    values: [typeNumber('Patient'), ids],
  })
  return new Set(rows.map(row => row.id))
}

async function listPatients(on: Queryable, job: string, ids: readonly string[]): Promise<void> {
  await on.query({
    text: 'insert into export_patient (job, self) select $1, unnest($2::bigint[]) on conflict do nothing',
    values: [job, int8Array(ids.map(id => hash64(`Patient/${id}`)))],
  })
}

async function next(on: Queryable, job: string): Promise<Slice | undefined> {
  const [row] = await on.query<{ type: number; part: number; size: number }>({
    name: 'export-next',
    text: `select type, part, cardinality(keys) as size from export_slice where job = $1 order by type, part limit 1`,
    values: [job],
  })
  return row && { job, type: typeName(row.type), part: row.part, size: row.size }
}

/** Bytes of bodies read at a time; a single larger one comes alone. */
const chunkBytes = 4 * 1024 * 1024

/**
 * The next bodies of a slice. Their sizes are known without reading them, so that the sum over a slice costs little. What has moved since
 * it was listed is where it is now; what the caller may not see any more, as it is about another patient than before, is left out.
 */
function nextBodies(session: Session, { job, type, part }: Slice, after: number): Statement {
  const context = createContext(session)
  const { bind } = context
  const conditions = seen('s', context)
  const isSeen = conditions.length > 0 ? `join search s using (shard, key) where ${conditions.join(' and ')}` : ''
  const text = `select listed as key, body, size from (
      select k.listed, r.body, octet_length(r.body) as size,
        sum(octet_length(r.body)) over (order by k.listed) - octet_length(r.body) as before
      from (
        select l.key as listed, coalesce(m.key, l.key) as key, ${shardSql('coalesce(m.key, l.key)')} as shard
        from export_slice e cross join lateral unnest(e.keys) as l(key) left join moved m on m.former = l.key
        where e.job = ${bind(job)} and e.type = ${bind(typeNumber(type))} and e.part = ${bind(part)} and l.key > ${bind(after)}
      ) k join resource r using (shard, key) ${isSeen}
    ) page where before < ${chunkBytes} order by listed`
  return prepared(text, context)
}

async function* bodies(session: Session, slice: Slice): AsyncGenerator<Piece[]> {
  const on = await placeFor('export-bodies', session.on)
  for (let after = 0; ; ) {
    const memory = new Memory()
    const rows = await on.query<{ key: number; body: Piece; size: number }>({
      ...nextBodies(session, slice, after),
      memory,
    })
    if (rows.length > 0) yield rows.map(row => row.body)
    memory.giveBack()
    if (rows.reduce((sum, row) => sum + row.size, 0) < chunkBytes) return
    after = rows.at(-1)!.key
  }
}

async function drop(on: Queryable, { job, type, part }: Slice): Promise<void> {
  await on.query({
    name: 'export-drop',
    text: 'delete from export_slice where job = $1 and type = $2 and part = $3',
    values: [job, typeNumber(type), part],
  })
}

async function forget(on: Queryable, jobs: readonly string[]): Promise<void> {
  for (const table of ['export_slice', 'export_patient', 'export_target'])
    await on.query({ text: `delete from ${table} where job = any($1::uuid[])`, values: [jobs] })
}
