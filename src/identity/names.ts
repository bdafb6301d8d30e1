// What callers are called: for people who read the audit trail.
import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'

/**
 * Returns names by the ids that the audit trail has: those of clients and agents, and the e-mail addresses of users (`user/…`).
 * Revoked and disabled ones keep theirs; ids without a name are left out.
 */
export async function callerNames(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await on.query<{ id: string; name: string }>({
    name: 'caller-names',
    text: `select id, name from client where id = any($1::text[])
      union all select id, name from bridge_agent where id = any($1::text[])
      union all select 'user/' || id, email from portal_user where id = any($2::text[])`,
    values: [
      textArray(ids),
      textArray(ids.filter(each => each.startsWith('user/')).map(each => each.slice('user/'.length))),
    ],
  })
  return new Map(rows.map(({ id, name }) => [id, name]))
}
