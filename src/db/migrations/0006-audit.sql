-- The audit trail: who did what to whose data, one row for each access, refused ones too. Rows are only ever added.

-- Each process that answers requests writes a chain of its own, so that processes do not wait for each other. Chains are
-- numbered without gaps, and the beginning of each holds the beginning of the one before it.
create table audit_chain (
  number integer primary key,
  started_at timestamptz not null,
  previous bytea not null,           -- hash of the chain before; empty for the first
  hash bytea not null                -- SHA-256 of number, time and previous: what the first row follows
);

-- How far each chain is, so that rows cannot be cut off its end unnoticed.
create table audit_head (
  chain integer primary key references audit_chain,
  sequence bigint not null,
  hash bytea not null,
  seal bytea not null                -- HMAC of chain, sequence and hash under a key that is not in the database
) with (fillfactor = 50);

create table audit_event (
  chain integer not null,
  sequence bigint not null,          -- 1, 2, 3… within the chain
  recorded_at timestamptz not null,
  action "char" not null,            -- C, R, U, D or E, as in AuditEvent.action
  interaction text collate "C" not null, -- a code of http://hl7.org/fhir/restful-interaction
  outcome smallint not null,         -- 0, 4 or 8, as in AuditEvent.outcome
  problem text collate "C" not null, -- error code of what was refused or failed; else empty, as below
  client_id text collate "C" not null,
  organization_id text collate "C" not null,
  token_id text collate "C" not null, -- jti of the access token
  address text collate "C" not null, -- network address of the client
  request_id text collate "C" not null,
  resource_type text collate "C" not null,
  resource_id text collate "C" not null,
  version integer not null,          -- 0: none
  query text not null,               -- what was asked for: path and parameters
  patients text[] collate "C" not null, -- those named, and those of whom something was disclosed or changed
  resources integer not null,        -- how many were disclosed or changed
  purpose text collate "C" not null, -- purpose of use, a code of v3-ActReason
  previous bytea not null,           -- hash of the row before, or of the chain
  hash bytea not null,               -- SHA-256 of previous and everything above
  primary key (chain, sequence)
);
create index audit_event_time on audit_event (recorded_at, chain, sequence);
create index audit_event_client on audit_event (client_id, recorded_at);
create index audit_event_resource on audit_event (resource_id, recorded_at) where resource_id <> '';
create index audit_event_patients on audit_event using gin (patients) where patients <> '{}';

create function audit_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'the audit trail is only ever added to' using errcode = 'insufficient_privilege';
end $$;

create function audit_head_moves() returns trigger language plpgsql as $$
begin
  if new.chain <> old.chain or new.sequence <= old.sequence then
    raise exception 'the head of an audit chain only moves forward' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger audit_event_stays before update or delete or truncate on audit_event
  for each statement execute function audit_refuse();
create trigger audit_chain_stays before update or delete or truncate on audit_chain
  for each statement execute function audit_refuse();
create trigger audit_head_stays before delete or truncate on audit_head
  for each statement execute function audit_refuse();
create trigger audit_head_moves before update on audit_head
  for each row execute function audit_head_moves();
