// Removes resources, history included; their indexed texts stay in the table `term`, which does not link them to a resource. For
// demo data only: clinical data is deleted, never purged.
import { int8Array, safeInt8Array } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import type { Transaction } from '../db/statement.ts'
import { selfHash } from './index/postings.ts'
import { shardArray } from './index/shard.ts'
import { lockNames, namesArrays, type ResourceName } from './lock.ts'
import { serviceParty } from './principal.ts'
import { type Projection, project } from './projection.ts'
import { remove } from './rows.ts'
import { isRaceLost, lost } from './session.ts'
import { typeName } from './type-number.ts'

/** How often a purge is begun while others change the same resources. */
const mostTries = 5

/**
 * Purges the named resources, and every resource that is about one of the patients.
 * @throws Failure CONFLICT if others keep changing them.
 */
export async function purge(
  database: Database,
  patients: readonly string[],
  named: readonly ResourceName[],
  projections: readonly Projection[],
): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await database.transaction(on => purgeOnce(on, patients, named, projections))
    } catch (error) {
      if (!isRaceLost(error)) throw error
      if (tries === mostTries) throw lost(error)
    }
}

async function purgeOnce(
  on: Transaction,
  patients: readonly string[],
  named: readonly ResourceName[],
  projections: readonly Projection[],
): Promise<void> {
  const both = [...named, ...(await about(on, patients))]
  const all = [...new Map(both.map(each => [`${each.type}/${each.id}`, each])).values()]
  await lockNames(on, all)
  // What is created under one of these names from now on stays: it has another row number.
  const placed = await on.query<{ key: number }>({
    text: 'select d.key from unnest($1::smallint[], $2::text[]) as named(type, id) join directory d using (type, id)',
    values: namesArrays(all),
  })
  const keys = placed.map(({ key }) => key)
  const found = await on.query<{ key: number; type: number; id: string; version: number }>({
    text: 'select key, type, id, version from resource where shard = any($1::smallint[]) and key = any($2::bigint[]) order by type, id',
    values: [shardArray(keys), safeInt8Array(keys)],
  })
  const gone = found.map(row => ({ ...row, type: typeName(row.type), version: row.version + 1, updatedAt: new Date() }))
  await remove(on, gone)
  await project(
    on,
    projections,
    gone.map(({ type, id }) => ({ type, id, resource: undefined })),
    { may: () => true, party: serviceParty },
  )
  await on.query({
    text: `with left_directory as (
        delete from directory d using unnest($1::smallint[], $2::text[]) as gone(type, id)
        where d.type = gone.type and d.id = gone.id and d.key = any($3::bigint[]) returning d.shard, d.type, d.id
      )
      delete from history h using left_directory d where h.shard = d.shard and h.type = d.type and h.id = d.id`,
    values: [...namesArrays(all), safeInt8Array(keys)],
  })
}

/** What is about one of the patients. */
async function about(on: Transaction, patients: readonly string[]): Promise<ResourceName[]> {
  const rows = await on.query<{ type: number; id: string }>({
    text: 'select r.type, r.id from search s join resource r using (shard, key) where s.patient = any($1::bigint[])',
    values: [int8Array(patients.map(id => selfHash('Patient', id)))],
  })
  return rows.map(({ type, id }) => ({ type: typeName(type), id }))
}
