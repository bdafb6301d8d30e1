// PostgreSQL's statistics after a great load, which its own housekeeping would gather only later.
import type { Queryable } from '../db/statement.ts'

/** Cleans and analyses the tables that every resource is written to; outside of a transaction. */
export async function vacuumResources(on: Queryable): Promise<void> {
  await on.query({ text: 'vacuum (analyze) resource, search, coded, span, word, term', values: [] })
}
