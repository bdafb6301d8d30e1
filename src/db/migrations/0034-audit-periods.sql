-- The audit trail in periods (docs/decisions/0088-audit-periods.md). A period ends with its month, or when it has many rows. Its rows and
-- their names are partitions, which leave the database once they are in an archive that was read back and verified. Beginnings and
-- heads of chains stay.
create table audit_period (
  number integer primary key,        -- its chains have the numbers 1,000,000 * number + 1, 2, 3…
  began_at timestamptz not null,
  ended_at timestamptz,              -- when the next one began
  archiver_until timestamptz         -- a process archives it, and is presumed dead after this time
);

create table audit_archive (
  period integer primary key references audit_period,
  file text not null,                -- name without folder
  bytes bigint not null,
  sha256 bytea not null,
  chains integer not null,
  rows bigint not null,
  first_at timestamptz,              -- when the oldest row was recorded; null: there is none
  last_at timestamptz,
  archived_at timestamptz not null default clock_timestamp(),
  seal bytea not null                -- HMAC of period, file, bytes, SHA-256, chains and rows under a key that is not in the database
);

create function audit_period_ends() returns trigger language plpgsql as $$
begin
  if new.number <> old.number or new.began_at <> old.began_at or (old.ended_at is not null and new.ended_at is distinct from old.ended_at) then
    raise exception 'a period of the audit trail only ends' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger audit_period_stays before delete or truncate on audit_period
  for each statement execute function audit_refuse();
create trigger audit_period_ends before update on audit_period
  for each row execute function audit_period_ends();
create trigger audit_archive_stays before update or delete or truncate on audit_archive
  for each statement execute function audit_refuse();

-- Refuses a group of rows for a chain of a closed period: its process begins another chain.
create function audit_refuse_late() returns trigger language plpgsql as $$
begin
  raise exception 'the period of the audit chain is closed' using errcode = 'HI005';
end $$;

-- Closes a period: from now on nothing is added to it. Waits for what is being added.
create function audit_close(period integer) returns void language plpgsql as $$
declare
  part text;
begin
  foreach part in array array['audit_source', 'audit_kind', 'audit_row'] loop
    execute format('create or replace trigger %s_%s_closed before insert on %1$s_%2$s for each row execute function audit_refuse_late()',
      part, period);
  end loop;
end $$;

-- What is there becomes period 0.
drop view audit_event;
alter table audit_row rename to audit_row_0;
alter table audit_source rename to audit_source_0;
alter table audit_kind rename to audit_kind_0;
alter index audit_row_pkey rename to audit_row_0_pkey;
alter index audit_row_time rename to audit_row_0_time;
alter index audit_row_client rename to audit_row_0_client;
alter index audit_row_resource rename to audit_row_0_resource;
alter index audit_row_patients rename to audit_row_0_patients;
alter index audit_source_pkey rename to audit_source_0_pkey;
alter index audit_kind_pkey rename to audit_kind_0_pkey;

create table audit_row (like audit_row_0) partition by range (chain);
alter table audit_row add primary key (chain, sequence) with (fillfactor = 100);
create index audit_row_time on audit_row (second);
create index audit_row_client on audit_row (client_key, second);
create index audit_row_resource on audit_row (hashtext(encode(resource, 'hex')), second) where resource <> '';
create index audit_row_patients on audit_row using gin ((
  case when octet_length(patients) % 16 = 0 and octet_length(patients) <= 320 then array_remove(array[
    substr(patients, 1, 16), substr(patients, 17, 16), substr(patients, 33, 16), substr(patients, 49, 16), substr(patients, 65, 16),
    substr(patients, 81, 16), substr(patients, 97, 16), substr(patients, 113, 16), substr(patients, 129, 16), substr(patients, 145, 16),
    substr(patients, 161, 16), substr(patients, 177, 16), substr(patients, 193, 16), substr(patients, 209, 16), substr(patients, 225, 16),
    substr(patients, 241, 16), substr(patients, 257, 16), substr(patients, 273, 16), substr(patients, 289, 16), substr(patients, 305, 16)], '') else audit_keys(patients) end
)) with (gin_pending_list_limit = 128) where patients <> '';
create table audit_source (like audit_source_0) partition by range (chain);
alter table audit_source add primary key (chain, number);
create table audit_kind (like audit_kind_0) partition by range (chain);
alter table audit_kind add primary key (chain, number);

alter table audit_row attach partition audit_row_0 for values from (minvalue) to (1000000);
alter table audit_source attach partition audit_source_0 for values from (minvalue) to (1000000);
alter table audit_kind attach partition audit_kind_0 for values from (minvalue) to (1000000);

create trigger audit_row_stays before update or delete or truncate on audit_row
  for each statement execute function audit_refuse();
create trigger audit_source_stays before update or delete or truncate on audit_source
  for each statement execute function audit_refuse();
create trigger audit_kind_stays before update or delete or truncate on audit_kind
  for each statement execute function audit_refuse();

-- Makes the partitions of a period, unless they are there. Attaching an empty table keeps nobody from reading or adding rows.
create function audit_make_room(period integer) returns void language plpgsql as $$
declare
  part text;
begin
  foreach part in array array['audit_source', 'audit_kind', 'audit_row'] loop
    continue when to_regclass(format('%s_%s', part, period)) is not null;
    execute format('create table %s_%s (like %1$s including indexes)', part, period);
    execute format('create trigger %s_%s_stays before update or delete or truncate on %1$s_%2$s
      for each statement execute function audit_refuse()', part, period);
    execute format('alter table %s attach partition %1$s_%s for values from (%s) to (%s)',
      part, period, 1000000 * period, 1000000 * (period + 1));
  end loop;
end $$;

insert into audit_period (number, began_at)
  select 0, coalesce((select started_at from audit_chain order by number limit 1), clock_timestamp());
select audit_make_room(1);

create view audit_event as
  select r.chain, r.sequence, to_timestamp(r.second::double precision + 2147483648 + r.millisecond / 1000.0::double precision) as recorded_at,
    k.action, k.interaction, k.outcome, k.problem, s.client_id, s.organization_id, s.token_id, s.address, audit_id(r.request) as request_id,
    k.resource_type, audit_id(r.resource) as resource_id, r.version, audit_query(r.query, r.patients, coalesce(k.resource_type, '')) as query,
    audit_ids(r.patients) as patients, r.resources, s.purpose, r.hash,
    -- By which rows are found and ordered.
    r.second, r.millisecond, r.client_key, r.request, r.resource, r.query as packed_query, r.patients as packed_patients,
    case when octet_length(r.patients) % 16 = 0 and octet_length(r.patients) <= 320 then array_remove(array[
      substr(r.patients, 1, 16), substr(r.patients, 17, 16), substr(r.patients, 33, 16), substr(r.patients, 49, 16), substr(r.patients, 65, 16),
      substr(r.patients, 81, 16), substr(r.patients, 97, 16), substr(r.patients, 113, 16), substr(r.patients, 129, 16), substr(r.patients, 145, 16),
      substr(r.patients, 161, 16), substr(r.patients, 177, 16), substr(r.patients, 193, 16), substr(r.patients, 209, 16), substr(r.patients, 225, 16),
      substr(r.patients, 241, 16), substr(r.patients, 257, 16), substr(r.patients, 273, 16), substr(r.patients, 289, 16), substr(r.patients, 305, 16)], '') else audit_keys(r.patients) end as patient_keys
  from audit_row r
    left join audit_source s on s.chain = r.chain and s.number = r.source
    left join audit_kind k on k.chain = r.chain and k.number = r.kind;
