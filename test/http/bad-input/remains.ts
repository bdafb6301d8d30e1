// How much there is in the tables of a service: what is refused must not change it.
import type pg from 'pg'

/** Grow with every request, refused or not, or by what goes on in the background. */
const besides =
  /^(audit_|bulk_|export_|write_fence|schema_|migration|used_assertion|enrolment_code|portal_session|webhook_(delivery|attempt|health)|event|request_(log|gap|value)|metric_sample|size_sample|search_shape)/

/** Events, on their way out or not. */
const events = `(select count(*)::int from event where event <> '') + (select count(*)::int from event_outbox where event <> '') as event`

export interface Remains {
  /** Rows of each table. */
  count(): Promise<Readonly<Record<string, number>>>
}

export async function remainsOf(database: pg.Client): Promise<Remains> {
  const { rows } = await database.query(
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  )
  const names = rows.map(({ name }) => String(name)).filter(name => !besides.test(name))
  const counts = names.map(name => `(select count(*)::int from "${name}") as "${name}"`).join(', ')
  return { count: async () => (await database.query({ name: 'remains', text: `select ${events}, ${counts}` })).rows[0] }
}

/** Which tables have come to hold more or less, in words; empty if none has. */
export function difference(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): string {
  return Object.keys(after)
    .filter(name => before[name] !== after[name])
    .map(name => `${name} ${before[name]} -> ${after[name]}`)
    .join(', ')
}
