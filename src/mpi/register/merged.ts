// Patients that are one person: what is stored about each is about all of them.

import { textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { type JsonObject, objectsIn, parseJson } from '../../lib/json.ts'
import { currentVersions } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'

interface Edge {
  readonly patient: string
  readonly by_patient: string
  readonly body: string
}

/** Most patients that are taken as one person. */
const most = 100

/**
 * Returns, for each patient (ids), all that are the same person by merges, itself first. Both must have the link, one
 * that it is replaced and the other that it replaces: a client that can write only one of them merges nothing.
 */
export async function mergedWith(on: Queryable, patients: readonly string[]): Promise<Map<string, string[]>> {
  const edges = await on.query<Edge>({
    name: 'merged-with',
    text: `with recursive same(id) as (
        select unnest($1::text[]) collate "C"
        union
        select case when l.patient = same.id then l.by_patient else l.patient end
        from same join patient_replaced l on l.patient = same.id or l.by_patient = same.id
      )
      select l.patient, l.by_patient, r.body from same join patient_replaced l on l.by_patient = same.id
        join ${currentVersions} r on r.type = $2 and r.id = l.by_patient`,
    values: [textArray(patients), typeNumber('Patient')],
  })
  const neighbours = new Map<string, string[]>()
  const join = (a: string, b: string): void => void neighbours.set(a, [...(neighbours.get(a) ?? []), b])
  for (const edge of edges) {
    if (!isMutual(edge)) continue
    join(edge.patient, edge.by_patient)
    join(edge.by_patient, edge.patient)
  }
  return new Map(patients.map(id => [id, reachable(id, neighbours)]))
}

function isMutual({ patient, body }: Edge): boolean {
  const links = objectsIn((parseJson(body) as JsonObject)['link'])
  return links.some(({ type, other }) => {
    const reference = (other as { reference?: unknown } | undefined)?.reference
    return type === 'replaces' && String(reference).replace(/.*Patient\/|\/_history\/.*/g, '') === patient
  })
}

function reachable(id: string, neighbours: ReadonlyMap<string, readonly string[]>): string[] {
  const found = [id]
  for (let at = 0; at < found.length && found.length < most; at++)
    for (const next of neighbours.get(found[at]!) ?? []) if (!found.includes(next)) found.push(next)
  return found
}
