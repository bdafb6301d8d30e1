// PostgreSQL's statistics of the register after a great load.
import type { Queryable } from '../../db/statement.ts'

/** Cleans and analyses the tables that people are found by; outside of a transaction. */
export async function vacuumRegister(on: Queryable): Promise<void> {
  await on.query({ text: 'vacuum (analyze) person, person_posting', values: [] })
}
