-- Whose data a resource is, who wrote it, and who may see it by consent.

-- The patient whose consent decides who may see the resource: hash of 'Patient/id'; 0: it is about nobody;
-- 1: those in `about` decide together, and without them only its author may see it.
alter table search
  add column subject bigint not null default 1,
  add column author bigint not null default 0,  -- hash of the client that created it; 0: the service itself
  add column about bigint[];

-- The same of each version that is over.
alter table history
  add column subject bigint not null default 1,
  add column author bigint not null default 0,
  add column about bigint[];

-- What consents come to: who may see which part of whose data, when, and what for. Worked out anew from all consents of a
-- patient whenever one of them changes, in the transaction that changes it; what is not here is not permitted.
create table consent_grant (
  patient bigint not null,           -- hash of 'Patient/id'
  organization bigint not null,      -- hash of 'Organization/id'
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  types smallint[],                  -- null: all
  codes bigint[],                    -- postings of which the resource must have one; null: whatever it has
  except_codes bigint[],             -- postings of which it must have none
  purposes text[] collate "C",       -- codes of v3-ActReason; null: any
  consent text collate "C" not null  -- id of the Consent that permits it
);
create index consent_grant_find on consent_grant (organization, patient);
create index consent_grant_patient on consent_grant (patient);

-- A job in the background sees what its client may see at each of its steps, for the purpose that it was ordered for.
alter table bulk_job
  add column consent_exempt boolean not null default false,
  add column purpose text not null default '';

-- The glass that was broken: who saw whose data in an emergency, why, and from when until when without saying it again.
create table emergency_access (
  id uuid primary key,
  client_id text collate "C" not null,
  organization_id text collate "C" not null,
  patient_id text collate "C" not null,
  reason text not null,
  request_id text collate "C" not null,
  opened_at timestamptz not null,
  ends_at timestamptz not null
);
create index emergency_access_open on emergency_access (client_id, patient_id, ends_at);
