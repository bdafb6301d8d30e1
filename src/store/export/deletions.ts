// The deleted resources that an export with _since reports: read from history, for clients that may hold copies.

import { int2Array, int8Array } from '../../db/arrays.ts'
import { hash64 } from '../../lib/hash.ts'
import type { Base } from '../base.ts'
import { createBinder } from '../search/binder.ts'
import { isInPatientCompartment } from '../search/sql-compartment.ts'
import type { Session } from '../session.ts'
import { methods, typeName, typeNumber } from '../type-number.ts'
import { referenceTarget } from '../values.ts'
import type { ExportScope } from './scope.ts'

/** Where the next page begins: after this type and id. */
export interface DeletionPlace {
  readonly type: number
  readonly id: string
}

export interface DeletionPage {
  readonly gone: readonly { readonly type: string; readonly id: string }[]
  readonly next: DeletionPlace | undefined
}

interface GoneRow {
  readonly type: number
  readonly id: string
  readonly patients: string[] | null
  /** True if it exists again. */
  readonly is_there: boolean
}

/** Deletions that are looked at for a page. */
const pageSize = 500

/**
 * Returns a page of the resources in the scope that were deleted after `since` and up to `time`, and do not exist again. The
 * filters of types are ignored: deleted resources cannot be searched.
 */
export async function deletions(
  session: Session,
  scope: ExportScope & { readonly since: number },
  time: Date,
  after: DeletionPlace | undefined,
): Promise<DeletionPage> {
  const before = scope.until === undefined ? time.getTime() : Math.min(time.getTime(), scope.until - 1)
  // The patients are read from the last version's references, in the database: bodies may be large.
  const patients =
    scope.of === 'everything'
      ? 'null'
      : `array(select m[1] from regexp_matches(last.body, '"reference":"([^"]*Patient/[^"]+)"', 'g') as m)`
  const binder = createBinder()
  const { bind } = binder
  bind(int2Array(scope.types.map(typeNumber)))
  bind(scope.since)
  bind(before)
  bind(after?.type ?? 0)
  bind(after?.id ?? '')
  const { visibility } = session.principal
  const rows = await session.on.query<GoneRow>({
    text: `with page as materialized (
        select h.type, h.id, ${patients} as patients
        from history h left join history last on last.shard = h.shard and last.type = h.type and last.id = h.id and last.version = h.version - 1
        where h.type = any($1::smallint[]) and h.method = ${methods.DELETE}
          and h.updated_at > to_timestamp($2::double precision / 1000) and h.updated_at <= to_timestamp($3::double precision / 1000)
          and (h.type, h.id) > ($4::smallint, $5::text collate "C")
          and not exists (select 1 from history n where n.shard = h.shard and n.type = h.type and n.id = h.id and n.version > h.version and n.method = ${methods.DELETE})
          ${visibility ? `and ${visibility.resource('h', binder)}` : ''}
        order by h.type, h.id limit ${pageSize}
      ), there as materialized (
        select placed.type, placed.id from (select d.type, d.id, d.shard, d.key from page join directory d using (type, id)) placed
          join resource r using (shard, key)
      )
      select page.type, page.id, page.patients, there.id is not null as is_there from page left join there using (type, id) order by page.type, page.id`,
    values: binder.values,
  })
  const last = rows.length === pageSize ? rows.at(-1)! : undefined
  const gone = await inScope(
    session,
    scope,
    rows.filter(row => !row.is_there),
  )
  return {
    gone: gone.map(row => ({ type: typeName(row.type), id: row.id })),
    next: last && { type: last.type, id: last.id },
  }
}

async function inScope(session: Session, scope: ExportScope, rows: readonly GoneRow[]): Promise<readonly GoneRow[]> {
  if (scope.of === 'everything') return rows
  const about = new Map(rows.map(row => [row, patientsOf(row, session.base)]))
  const listed = scope.of === 'listed' ? await listedAmong(session, scope.job, [...about.values()].flat()) : undefined
  return rows.filter(row => {
    const patients = about.get(row)!
    if (patients.length === 0) return !isInPatientCompartment(typeName(row.type))
    return listed === undefined || patients.some(patient => listed.has(patient))
  })
}

function patientsOf({ type, id, patients }: GoneRow, base: Base): string[] {
  if (typeName(type) === 'Patient') return [`Patient/${id}`]
  const targets = (patients ?? []).map(reference => referenceTarget(reference, base))
  return targets.filter(target => target !== undefined)
}

async function listedAmong(session: Session, job: string, patients: readonly string[]): Promise<Set<string>> {
  const unique = [...new Set(patients)]
  const rows = await session.on.query<{ ord: number }>({
    text: `select given.ord from unnest($2::bigint[]) with ordinality as given(self, ord)
      join export_patient p on p.job = $1 and p.self = given.self`,
    values: [job, int8Array(unique.map(hash64))],
  })
  return new Set(rows.map(row => unique[row.ord - 1]!))
}
