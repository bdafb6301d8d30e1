// Removes resources, history included; their indexed texts stay in the table `term`, which does not link them to a resource. For
// demo data only: clinical data is deleted, never purged.
import { int2Array, int8Array, textArray } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import { selfHash } from './index/postings.ts'
import { serviceParty } from './principal.ts'
import { type Projection, project } from './projection.ts'
import { remove } from './rows.ts'
import { typeName, typeNumber } from './type-number.ts'

/** Purges the named resources, and every resource that is about one of the patients. */
export async function purge(
  database: Database,
  patients: readonly string[],
  named: readonly { type: string; id: string }[],
  projections: readonly Projection[],
): Promise<void> {
  await database.transaction(async transaction => {
    const found = await transaction.query<{ key: number; type: number; id: string; version: number }>({
      text: `select r.key, r.type, r.id, r.version from resource r where (r.shard, r.key) in (
          select s.shard, s.key from search s where s.patient = any($1::bigint[])
          union select d.shard, d.key from directory d join unnest($2::smallint[], $3::text[]) as named(type, id) using (type, id))
        order by r.type, r.id`,
      values: [
        int8Array(patients.map(id => selfHash('Patient', id))),
        int2Array(named.map(each => typeNumber(each.type))),
        textArray(named.map(each => each.id)),
      ],
    })
    const gone = found.map(row => ({
      ...row,
      type: typeName(row.type),
      version: row.version + 1,
      updatedAt: new Date(),
    }))
    await remove(transaction, gone)
    await project(
      transaction,
      projections,
      gone.map(({ type, id }) => ({ type, id, resource: undefined })),
      { may: () => true, party: serviceParty },
    )
    const all = [...gone, ...named]
    await transaction.query({
      text: `with left_directory as (
          delete from directory d using unnest($1::smallint[], $2::text[]) as gone(type, id)
          where d.type = gone.type and d.id = gone.id returning d.shard, d.type, d.id
        )
        delete from history h using left_directory d where h.shard = d.shard and h.type = d.type and h.id = d.id`,
      values: [int2Array(all.map(each => typeNumber(each.type))), textArray(all.map(each => each.id))],
    })
  })
}
