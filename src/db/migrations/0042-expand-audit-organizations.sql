-- Finds the clients of an organization, by which its rows are found (docs/decisions/0110-audit-organizations.md). Partitions made later
-- have it too.
create index audit_source_organization on audit_source (organization_id, client_id);
