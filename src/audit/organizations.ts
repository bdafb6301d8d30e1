// What organizations did is found by the rows of their clients: rows themselves have keys of clients alone.
import type { Queryable } from '../db/statement.ts'
import type { AuditTest } from './criteria.ts'
import { clientKey } from './packed.ts'

/** Most clients that are looked for one by one. Of organizations with more, some row is nearly always among the newest. */
const mostClients = 200

/**
 * Returns tests of the same meaning, in which those of organizations name the keys of their clients.
 * @param on what the search reads, so that it has the clients of the rows that it finds
 */
export async function withClients(on: Queryable, tests: readonly AuditTest[]): Promise<readonly AuditTest[]> {
  const organizations = [...new Set(tests.flatMap(organizationsOf))]
  const clients = organizations.length === 0 ? [] : await clientsOf(on, organizations)
  if (clients.length > mostClients) return tests
  const named = (test: AuditTest): AuditTest => {
    if ('all' in test) return { all: test.all.map(named) }
    if ('any' in test) return { any: test.any.map(named) }
    if (!isOfOrganizations(test)) return test
    const theirs = clients.filter(each => test.among.includes(each.organization_id))
    return { ...test, clientKeys: [...new Set(theirs.map(each => clientKey(each.client_id)))] }
  }
  return tests.map(named)
}

const isOfOrganizations = (test: AuditTest): test is Extract<AuditTest, { among: unknown }> =>
  'among' in test && test.column === 'organization_id'

function organizationsOf(test: AuditTest): readonly string[] {
  if ('all' in test) return test.all.flatMap(organizationsOf)
  if ('any' in test) return test.any.flatMap(organizationsOf)
  return isOfOrganizations(test) ? test.among : []
}

interface ClientOf {
  readonly organization_id: string
  readonly client_id: string
}

/** Returns each client once, however many tokens it had: the index is entered once for each. One more than the most, if there are more. */
const clientsOf = (on: Queryable, organizations: readonly string[]): Promise<ClientOf[]> =>
  on.query<ClientOf>({
    text: `with recursive theirs as (
        select asked.id as organization_id, (select min(s.client_id) from audit_source s where s.organization_id = asked.id) as client_id
        from unnest($1::text[]) asked(id)
        union all
        select organization_id, (select min(s.client_id) from audit_source s
          where s.organization_id = theirs.organization_id and s.client_id > theirs.client_id)
        from theirs where client_id is not null
      )
      select organization_id, client_id from theirs where client_id is not null limit $2`,
    values: [organizations, mostClients + 1],
    isFixed: true,
  })
