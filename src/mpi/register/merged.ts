// Patients that are one person: what is stored about each is about all of them.

import { textArray } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { type JsonObject, objectsIn, parseJson } from '../../lib/json.ts'
import { currentVersions } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'

/** A patient, and the one that replaces it by its own words. */
interface Link {
  readonly patient: string
  readonly by_patient: string
}

interface Version {
  readonly id: string
  readonly body: string
}

/** Most patients that are taken as one person. */
export const mostOfOnePerson = 100

/**
 * Returns, for each patient (ids), all that are the same person by merges, itself first. Both must have the link, one
 * that it is replaced and the other that it replaces: a client that can write only one of them merges nothing.
 */
export async function mergedWith(on: Queryable, patients: readonly string[]): Promise<Map<string, string[]>> {
  const links = await linksOf(on, patients)
  const replaced = await replacedBy(on, new Set(links.map(link => link.by_patient)))
  const neighbours = new Map<string, string[]>()
  const join = (a: string, b: string): void => void neighbours.set(a, [...(neighbours.get(a) ?? []), b])
  for (const { patient, by_patient: by } of links) {
    if (!replaced.get(by)?.has(patient)) continue
    join(patient, by)
    join(by, patient)
  }
  return new Map(patients.map(id => [id, reachable(id, neighbours)]))
}

/** All links that lead from the patients to others, in both directions. */
const linksOf = (on: Queryable, patients: readonly string[]): Promise<Link[]> =>
  on.query<Link>({
    name: 'merged-links',
    text: `with recursive same(id) as (
        select unnest($1::text[]) collate "C"
        union
        select case when l.patient = same.id then l.by_patient else l.patient end
        from same join patient_replaced l on l.patient = same.id or l.by_patient = same.id
      )
      select l.patient, l.by_patient from same join patient_replaced l on l.by_patient = same.id`,
    values: [textArray(patients)],
  })

/** The ids of the patients that each of some patients replaces by its own words. */
async function replacedBy(on: Queryable, patients: ReadonlySet<string>): Promise<Map<string, ReadonlySet<string>>> {
  if (patients.size === 0) return new Map()
  const versions = await on.query<Version>({
    name: 'merged-versions',
    text: `select r.id, r.body from unnest($1::text[]) as given(id) join ${currentVersions} r on r.type = $2 and r.id = given.id`,
    values: [textArray([...patients]), typeNumber('Patient')],
  })
  return new Map(versions.map(({ id, body }) => [id, replacesIn(body)]))
}

function replacesIn(body: string): ReadonlySet<string> {
  const links = objectsIn((parseJson(body) as JsonObject)['link']).filter(({ type }) => type === 'replaces')
  return new Set(
    links.map(({ other }) => {
      const reference = (other as { reference?: unknown } | undefined)?.reference
      return String(reference).replace(/.*Patient\/|\/_history\/.*/g, '')
    }),
  )
}

function reachable(id: string, neighbours: ReadonlyMap<string, readonly string[]>): string[] {
  const found = [id]
  for (let at = 0; at < found.length && found.length < mostOfOnePerson; at++)
    for (const next of neighbours.get(found[at]!) ?? []) if (!found.includes(next)) found.push(next)
  return found
}
