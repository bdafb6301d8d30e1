-- Bulk Data: exports and imports that run in the background.

-- Exports and imports. A process that works on a job holds its lease and renews it; a job whose lease has run out is
-- taken over by another.
create table bulk_job (
  id uuid primary key,
  kind text not null check (kind in ('export', 'import')),
  client_id text collate "C" not null,
  organization_id text collate "C" not null,
  scopes text[] not null,            -- of the token that started it: the job may do what that token could
  url text not null,                 -- of the request that started it
  request jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  stage text not null default 'new', -- how far an export is: new, writing, deletions, written
  transaction_time timestamptz,
  total bigint,                      -- resources (export) or bytes (import) to go through, once that is known
  done bigint not null default 0,
  place jsonb,                       -- where the deletions of an export continue
  lease uuid,
  lease_until timestamptz,
  attempts integer not null default 0, -- times it was taken up since it last came forward
  problem text,                      -- why it failed
  created_at timestamptz not null,
  expires_at timestamptz             -- set when it ends; then its files go
);
create index bulk_job_open on bulk_job (created_at) where state in ('queued', 'running');
create index bulk_job_expires on bulk_job (expires_at) where expires_at is not null;

-- What a job has written. Only the first `bytes` of a file count: what a process wrote after its last note is nobody's.
create table bulk_file (
  job uuid not null references bulk_job on delete cascade,
  name text collate "C" not null,
  number integer not null,
  kind text not null check (kind in ('output', 'deleted', 'error')),
  type text not null,
  input integer,                     -- of an import: the input that it is about
  count bigint not null,
  bytes bigint not null,
  primary key (job, name)
);

-- What an import reads, in order.
create table bulk_input (
  job uuid not null references bulk_job on delete cascade,
  number integer not null,
  url text,                          -- null: it came in the body of the request
  label text not null,               -- how messages name it
  type text,                         -- the only resource type it may hold; null: any
  bytes bigint,                      -- its size on disk; null: not fetched yet
  position bigint not null default 0,
  line bigint not null default 0,    -- lines before the position
  postponed bigint[] not null default '{}', -- pairs of position and line that are tried again at the end
  is_done boolean not null default false,
  created bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  failed bigint not null default 0,
  primary key (job, number)
);

-- The lists below are the store's, and are forgotten when their job ends. They do not refer to it: making a list may take
-- long, and whoever cancels the job should not have to wait for it.

-- What is still to be written of an export: row numbers of resources, some thousand to a row, which goes when they are written.
create table export_slice (
  job uuid not null,
  type smallint not null,
  part integer not null,
  keys bigint[] not null,
  primary key (job, type, part)
);

-- The patients that an export is about, where not all are; as in search.self.
create table export_patient (
  job uuid not null,
  self bigint not null,
  primary key (job, self)
);

-- What the resources of an export refer to outside of the patients' compartments, each once.
create table export_target (
  job uuid not null,
  key bigint not null,
  type smallint not null,
  primary key (job, key)
);
