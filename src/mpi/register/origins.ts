// The addresses in the systems of Health IDs: a data set that is older than its identity learns from them where it was
// served.
import type { Queryable } from '../../db/statement.ts'
import { currentVersions } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'

/** Returns the prefixes of the systems of stored Health IDs, the most used first. @param most addresses */
export async function originsInUse(on: Queryable, most: number): Promise<string[]> {
  const rows = await on.query<{ origin: string }>({
    text: `select left(each ->> 'system', -length($2::text)) as origin
      from health_id h join ${currentVersions} r on r.type = $1 and r.id = h.patient
      cross join lateral json_array_elements(r.body::json -> 'identifier') as each
      where each ->> 'value' = h.value and right(each ->> 'system', length($2::text)) = $2
      group by 1 order by count(*) desc, 1 limit $3`,
    values: [typeNumber('Patient'), '/fhir/NamingSystem/health-id', most],
  })
  return rows.map(row => row.origin)
}
