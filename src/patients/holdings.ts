// What hangs on the record of a patient: how many resources of each type are about it, and which organisations have to do with it.
import { int8Array } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { hash64 } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Addresses, ownNumbersOf } from '../mpi/register/patient.ts'
import { authorHash } from '../store/author.ts'
import { aboutPatient } from '../store/relations.ts'
import { typeName, typeNumber } from '../store/type-number.ts'
import { managerOf } from './admit.ts'

/**
 * Returns, without the service's own questions to people, how many resources of each type are about a patient (id), the most numerous type first.
 * @param authors those whose resources count; undefined: all
 */
export async function countsAbout(
  on: Queryable,
  patient: string,
  authors: readonly string[] | undefined,
): Promise<{ readonly type: string; readonly count: number }[]> {
  const rows = await on.query<{ type: number; count: number }>({
    name: 'counts-about',
    text: `select c.type, count(*)::integer as count from ${aboutPatient} c
      where c.patient = $1::bigint and (c.type <> ${typeNumber('Task')} or c.author <> ${authorHash(undefined)}) and ($2::bigint[] is null or c.author = any($2::bigint[]))
      group by c.type order by count desc, c.type`,
    values: [hash64(`Patient/${patient}`), authors === undefined ? null : int8Array(authors.map(authorHash))],
  })
  return rows.map(({ type, count }) => ({ type: typeName(type), count })).filter(({ type }) => type !== 'Patient')
}

/** Returns the organisations (ids) that manage the record of a patient, or have a number for it. */
export function organizationsIn(patient: JsonObject, addresses: Addresses): string[] {
  const numbered = ownNumbersOf(patient, addresses).map(
    ({ system }) => system.slice(addresses.numbers.length).split('/')[0]!,
  )
  const manager = String(managerOf(patient) ?? '').replace(/^.*\//, '')
  return [...new Set([manager, ...numbered])].filter(each => each !== '')
}
