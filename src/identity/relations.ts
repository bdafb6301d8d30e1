// What other folders read of clients within their own statements.

/**
 * Clients, found by id: their organisation, what their scopes open, and whether they are active. PostgreSQL plans it as
 * if the table stood there.
 */
export const clients =
  '(select id, organization_id, scopes, consent_exempt, revoked_at is null as is_active from client)'
