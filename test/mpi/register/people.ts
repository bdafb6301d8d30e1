// A register of its own, which follows the patients that it is told of.
import { readFileSync } from 'node:fs'
import type { Database } from '../../../src/db/database.ts'
import type { Queryable } from '../../../src/db/statement.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { Person } from '../../../src/mpi/matching/person.ts'
import { readMatching } from '../../../src/mpi/matching/weights.ts'
import { addressesOf } from '../../../src/mpi/register/patient.ts'
import { createRegisterProjection } from '../../../src/mpi/register/projection.ts'
import { createRegister, type Register } from '../../../src/mpi/register/register.ts'
import { serviceParty } from '../../../src/store/principal.ts'
import type { Projected } from '../../../src/store/projection.ts'
import { baseOf } from '../../support/base.ts'
import { openTestDatabase } from '../../support/database.ts'

export const matching = readMatching(readFileSync('mappings/matching.json', 'utf8'), 'mappings/matching.json')
export const addresses = addressesOf(baseOf('https://register.example'))
const { apply } = createRegisterProjection(addresses)

/** Has a register follow patients: `undefined` is one that was deleted. */
export const follow = (on: Queryable, patients: Readonly<Record<string, JsonObject | undefined>>): Promise<void> => {
  const changes = Object.entries(patients).map(([id, resource]): Projected => ({ type: 'Patient', id, resource }))
  return apply(on, changes, { author: undefined, may: () => true, party: serviceParty })
}

export const patientOf = ({ names, birthDate, sex, phones = [] }: Person) => ({
  name: names.map(({ given, family }) => ({ ...(given && { given: [given] }), ...(family && { family }) })),
  birthDate,
  gender: sex,
  telecom: phones.map(value => ({ system: 'phone', value })),
})

/** A register in which these people are: the first is the patient 0. */
export async function registerOf(
  people: readonly Person[],
  weights = matching,
): Promise<{ database: Database; register: Register }> {
  const database = await openTestDatabase()
  await database.transaction(on => follow(on, Object.fromEntries(people.map((each, at) => [at, patientOf(each)]))))
  return { database, register: createRegister(() => weights) }
}
