// What other folders read of clients inside statements of their own.

/** Clients, found by id: whose they are, what their scopes open, and whether they still count. PostgreSQL plans it as if the table stood there. */
export const clients =
  '(select id, organization_id, scopes, consent_exempt, revoked_at is null as is_active from client)'
