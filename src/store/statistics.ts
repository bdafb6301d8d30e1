// PostgreSQL's statistics of the tables that every resource is written to. Its own housekeeping looks once a minute; until then, plans that
// were made for empty tables are kept, and read all of a table that has grown: docs/decisions/0100-statistics-follow-growth.md.
import type { Queryable } from '../db/statement.ts'

const tables = 'directory, resource, search, coded, span, word, term'

/** Cleans and analyses the tables after a great load, outside of a transaction. */
export async function vacuumResources(on: Queryable): Promise<void> {
  await on.query({ text: `vacuum (analyze) ${tables}`, values: [] })
}

/** Changes after which the tables are looked at for the first time, and how many times as many until the next. */
const [first, factor] = [1000, 4]

/** Receives how many changes have been made. Has the tables analysed when they are several times as large as PostgreSQL knows. */
export type Growth = (changes: number) => void

export function createGrowth(database: Queryable): Growth {
  let [changes, next] = [0, first]
  return made => {
    changes += made
    if (changes < next) return
    next = changes * factor
    // What fails here, PostgreSQL does by itself a minute later.
    analyzed(database).catch(() => {})
  }
}

async function analyzed(database: Queryable): Promise<void> {
  const [directory] = await database.query<{ has_grown: boolean }>({
    text: `select pg_relation_size(oid) > $1 * greatest(relpages, 1) * current_setting('block_size')::bigint as has_grown
      from pg_class where oid = 'directory'::regclass`,
    values: [factor],
  })
  if (directory?.has_grown) await database.query({ text: `analyze ${tables}`, values: [] })
}
