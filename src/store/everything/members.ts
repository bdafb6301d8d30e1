// Finds the members of the compartments that $everything covers, in one statement.

import { prepared } from '../../db/database.ts'
import type { Indexer } from '../index/entry.ts'
import { selfHash } from '../index/postings.ts'
import { type Binder, createBinder, typeArray } from '../search/binder.ts'
import { type HitRow, hitColumns } from '../search/hit.ts'
import { boundReach, reached, reachText } from '../search/reach.ts'
import { compartmentCondition, someCompartmentCondition } from '../search/sql-compartment.ts'
import { type Session, searchOptions } from '../session.ts'
import { type Reach, seen } from '../visibility.ts'
import { careCondition } from './care-dates.ts'
import type { EverythingRequest } from './request.ts'

type Scope = Pick<EverythingRequest, 'patient' | 'start' | 'end'> & { readonly types: readonly string[] }

/** A member, and on the first page of one patient how many there are. */
export type MemberRow = HitRow & { readonly found?: number }

/** Returns a page of the compartment, the patient itself first, and one row more than the page holds if there are more. */
export async function members(
  session: Session,
  request: Omit<EverythingRequest, 'types'> & { readonly types: readonly string[] },
): Promise<MemberRow[]> {
  const binder = createBinder()
  const { bind } = binder
  const { patient, after, count } = request
  const { visibility, sketch } = searchOptions(session)
  const rows = patient === undefined ? await rowsFor(session, request.types, binder) : 'search s'
  const conditions = [
    inScope(request, 's', session.indexer, binder),
    ...since(request, binder),
    // What is about one patient is open as a whole, or hardly at all: there is nothing to pass over.
    ...seen('s', { ...binder, visibility, sketch: patient === undefined ? sketch : undefined }),
  ]
  if (after) conditions.push(`s.key > ${bind(after.key)}::bigint`)
  const self = patient === undefined ? 'false' : `s.self = ${bind(selfHash('Patient', patient))}::bigint`
  if (after && patient !== undefined) conditions.push(`not (${self})`)
  // One patient's keys are found first: walking through all rows in their order, in hope of a full page, would take long.
  const text = `with found as ${patient === undefined ? 'not materialized' : 'materialized'} (
      select s.shard, s.key, ${self} as first from ${rows}${request.since === undefined ? '' : ' join resource r using (shard, key)'}
      where ${conditions.join(' and ')}
    ), page as materialized (select shard, key, first from found order by first desc, key limit ${bind(count + 1)})
    select ${hitColumns}${patient === undefined || after ? '' : ', (select count(*) from found) as found'} from page join resource r on r.shard = page.shard and r.key = page.key order by page.first desc, page.key`
  // One plan suits all patients: it reads the indexes of patients and references.
  return session.on.query<MemberRow>({ ...prepared(text, binder, patient !== undefined), memory: request.memory })
}

/** What all patients' compartments are read from: for a caller who may see little, that alone. */
async function rowsFor(session: Session, types: readonly string[], binder: Binder): Promise<string> {
  const { visibility, sketch } = searchOptions(session)
  // Who is in a compartment is about a patient: types that may be about none need no look at the others (search/reach.ts).
  if (!visibility || sketch?.isMany) return 'search s'
  const asking = createBinder()
  const text = reachText({ types }, { ...asking, visibility })
  const statement = prepared(text, asking, true)
  const [reach] = await session.on.query<Reach>(statement)
  return reach ? `${reached({ types }, boundReach(reach, binder), binder)} s` : 'search s'
}

/** What changed since then, as conditions on the row `r` of resource. */
export function since(request: Pick<EverythingRequest, 'since'>, { bind }: Binder): string[] {
  return request.since === undefined
    ? []
    : [`r.updated_at >= to_timestamp(${bind(request.since)}::double precision / 1000)`]
}

/** The row belongs to the patient's compartment, or to that of some patient, and was cared for within the dates. */
export function inScope({ patient, start, end, types }: Scope, row: string, indexer: Indexer, binder: Binder): string {
  const { bind } = binder
  const context = { ...binder, indexer, meetsInPostings: false }
  const conditions =
    patient === undefined
      ? [
          `${row}.type = any(${typeArray(types, { bind })})`,
          someCompartmentCondition(types, row, { ...binder, indexer }),
        ]
      : [compartmentCondition({ kind: 'compartment', types, of: 'Patient', id: patient }, row, context, false)]
  if (start !== undefined || end !== undefined)
    conditions.push(careCondition({ start, end }, types, row, indexer, binder))
  return conditions.join(' and ')
}
