// The numbers that organisations give: one number leads to one patient.
import type { Transaction } from '../db/statement.ts'
import { featuresOf } from '../mpi/matching/person.ts'
import type { OwnNumber } from '../mpi/register/patient.ts'
import type { Register } from '../mpi/register/register.ts'

/** True if patients have the number, and this one is not among them. */
export const isOther = (numbered: ReadonlySet<string>, patient: string): boolean =>
  numbered.size > 0 && !numbered.has(patient)

/** Returns whether another patient than this one has the number; until the transaction ends, no other one gets it. */
export async function isTaken(
  register: Register,
  on: Transaction,
  number: OwnNumber | undefined,
  patient: string,
): Promise<boolean> {
  if (number === undefined) return false
  await register.lock(on, featuresOf({ names: [] }), number)
  return isOther(await register.numbered(on, number), patient)
}
