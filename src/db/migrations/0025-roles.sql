-- A user of the portal may have several roles.
alter table portal_user add column roles text[];
update portal_user set roles = array[role];
alter table portal_user alter column roles set not null, drop column role,
  add check (roles <@ array['administrator', 'developer', 'informaticist', 'privacy_officer'] and cardinality(roles) > 0);
