// Takes resources away without a trace, history included. For demo data only: clinical data is deleted, never purged.
import { int2Array, int8Array, textArray } from '../db/arrays.ts'
import type { Database } from '../db/database.ts'
import { selfHash } from './postings.ts'
import { typeNumber } from './type-number.ts'

/** Purges the named resources, and every resource that is about one of the patients. */
export async function purge(
  database: Database,
  patients: readonly string[],
  named: readonly { type: string; id: string }[],
): Promise<void> {
  const types = int2Array(named.map(each => typeNumber(each.type)))
  const ids = textArray(named.map(each => each.id))
  await database.transaction(async transaction => {
    const found = await transaction.query<{ key: number; type: number; id: string }>({
      text: `select r.key, r.type, r.id from resource r join search s using (key) where s.patient = any($1::bigint[])
        union select r.key, r.type, r.id from resource r join unnest($2::smallint[], $3::text[]) as named(type, id) using (type, id)
        order by type, id`,
      values: [int8Array(patients.map(id => selfHash('Patient', id))), types, ids],
    })
    const keys = found.map(row => row.key)
    await transaction.query({
      text: 'select key from resource where key = any($1::bigint[]) order by type, id for update',
      values: [keys],
    })
    await transaction.query({
      text: `delete from coded c using search s where s.key = any($1::bigint[]) and c.posting = any(s.tokens) and c.date = s.date and c.key = s.key`,
      values: [keys],
    })
    for (const table of ['span', 'word', 'search', 'resource'])
      await transaction.query({ text: `delete from ${table} where key = any($1::bigint[])`, values: [keys] })
    await transaction.query({
      text: `delete from history h using (select * from unnest($1::smallint[], $2::text[]) union select * from unnest($3::smallint[], $4::text[])) as gone(type, id)
        where h.type = gone.type and h.id = gone.id`,
      values: [found.map(row => row.type), found.map(row => row.id), types, ids],
    })
  })
}
