// The numbers that organisations give: one number leads to one patient.
import type { Caller } from '../access/caller.ts'
import type { Transaction } from '../db/statement.ts'
import { type JsonObject, objectsIn } from '../lib/json.ts'
import { nobody } from '../mpi/matching/person.ts'
import type { Addresses, OwnNumber } from '../mpi/register/patient.ts'
import type { Register } from '../mpi/register/register.ts'

/**
 * Returns the numbers of a Patient in systems of the caller's organisation, in order; the first one is what the patient is found by. Ids that
 * the service gave are not among them.
 */
export function numbersFrom(patient: JsonObject, caller: Caller, addresses: Addresses): OwnNumber[] {
  return numbersOf(patient, caller, addresses).filter(each => !isServiceId(each))
}

/** Returns the id of a Patient that the service itself gave in a message that went out, and that comes back: `id^^^HEALTH-INTEROP`. */
export const serviceIdIn = (patient: JsonObject, caller: Caller, addresses: Addresses): OwnNumber | undefined =>
  numbersOf(patient, caller, addresses).find(isServiceId)

/** As mappings/hl7v2 write it. */
const isServiceId = ({ system }: OwnNumber): boolean => system.endsWith('/patient/HEALTH-INTEROP')

function numbersOf(patient: JsonObject, { organizationId }: Caller, addresses: Addresses): OwnNumber[] {
  const own = `${addresses.numbers}${organizationId}`
  return objectsIn(patient['identifier']).flatMap(({ system, value }) =>
    typeof system === 'string' && typeof value === 'string' && (system === own || system.startsWith(`${own}/`))
      ? [{ system, value }]
      : [],
  )
}

/** True if patients have the number, and this one, if it is registered, is not among them. */
export const isOther = (numbered: ReadonlySet<string>, patient: string | undefined): boolean =>
  numbered.size > 0 && !(patient !== undefined && numbered.has(patient))

/**
 * Returns whether another patient than this one has the number. Until the transaction ends, no other one gets a number that nobody has.
 * @param patient undefined for one that is registered now
 */
export async function isTaken(
  register: Register,
  on: Transaction,
  number: OwnNumber,
  patient: string | undefined,
): Promise<boolean> {
  const before = await register.numbered(on, number)
  if (before.size > 0) return isOther(before, patient)
  await register.lock(on, nobody, number)
  return isOther(await register.numbered(on, number), patient)
}

/** Returns the Patient without these numbers. */
export const withoutNumbers = (patient: JsonObject, numbers: readonly OwnNumber[]): JsonObject =>
  numbers.length === 0
    ? patient
    : {
        ...patient,
        identifier: objectsIn(patient['identifier']).filter(each => !numbers.some(number => isNumber(each, number))),
      }

/** True of the identifier that is the number. */
export const isNumber = ({ system, value }: JsonObject, number: OwnNumber | undefined): boolean =>
  number !== undefined && system === number.system && value === number.value
