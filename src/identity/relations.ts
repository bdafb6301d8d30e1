// What other folders read of clients and agents within their own statements.

/**
 * Clients, found by id: their organisation, what their scopes open, and whether they are active. PostgreSQL plans it as
 * if the table stood there.
 */
export const clients =
  '(select id, organization_id, scopes, consent_exempt, revoked_at is null as is_active from client)'

/** Bridge agents, found by id: the organisation that they write for, and whether they are active. */
export const agents = '(select id, organization_id, revoked_at is null as is_active from bridge_agent)'
