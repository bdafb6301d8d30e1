-- Search parameters that users define have owners and bounds.

-- Who defined a parameter: a client may have so many. Empty: the service itself, or not known.
alter table search_parameter add column client text collate "C" not null default '';

-- Which process indexes older resources by it, and until when that counts without a further sign of life. Nothing is locked meanwhile.
alter table search_parameter add column lease text;
alter table search_parameter add column leased_until timestamptz;

-- Parameters that are out of use, by what their values are stored under. Whoever stores a resource that has no values of a parameter
-- because its work was too much adds a row, which waits for nobody: there may be several for one key.
create table search_parameter_suspension (
  key text not null,
  cause text not null check (cause in ('work', 'operator')),
  reason text not null,
  suspended_at timestamptz not null default clock_timestamp()
);
create index search_parameter_suspension_key on search_parameter_suspension (key);

-- Resources that could not be indexed by a new parameter: set aside with the reason, so that all others are.
create table search_parameter_left_out (
  resource bigint primary key, -- its row number
  version integer not null,
  reason text not null,
  noted_at timestamptz not null default clock_timestamp()
);
