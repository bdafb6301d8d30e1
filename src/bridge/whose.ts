// Whose a number is: facilities begin their numbers of orders and visits anew each year or each day, so that one number is given to many patients.

import type { Queryable } from '../db/statement.ts'
import { searchParams } from '../definitions/r4.ts'
import { mergedWith } from '../mpi/register/merged.ts'
import type { TransactionEntry } from '../store/transaction/entries.ts'
import type { Planned } from './known.ts'

/**
 * Returns the entries with conditions that only resources of their patients meet: `Observation?identifier=F-1` is the one of the patient whom
 * the message is about, or of a patient that is the same person by a merge.
 * @param patients `Patient/id` of those whom the message is about
 */
export async function ofTheirPatients(
  on: Queryable,
  entries: readonly Planned[],
  patients: ReadonlySet<string>,
): Promise<Planned[]> {
  const named = entries.map(each => patientsIn(each, patients))
  const same = await mergedWith(on, [...new Set(named.flat())])
  return entries.map((entry, index) => {
    const ids = named[index]!.flatMap(id => same.get(id)!)
    return ids.length === 0 ? entry : { ...entry, query: `${entry.query}&patient=${ids.join(',')}` }
  })
}

/** Ids of the patients to whom a conditional entry refers. */
function patientsIn({ type, query, resource }: TransactionEntry, patients: ReadonlySet<string>): string[] {
  if (query === undefined || !searchParams(type).has('patient')) return []
  const text = JSON.stringify(resource ?? {})
  return [...patients].filter(each => text.includes(`"${each}"`)).map(each => each.slice('Patient/'.length))
}
