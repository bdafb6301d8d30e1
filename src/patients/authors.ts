// Under which names an organisation writes.
import type { Queryable } from '../db/statement.ts'
import { clientsOf } from '../identity/clients.ts'

/** Returns the authors of an organisation: its clients (ids), revoked ones included, and its agents, which write as the organisation. */
export async function authorsOf(on: Queryable, organization: string): Promise<string[]> {
  const clients = await clientsOf(on, organization)
  return [...clients.map(({ id }) => id), `Organization/${organization}`]
}
