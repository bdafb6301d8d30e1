-- What an agent writes belongs to the organisation of its facility.
alter table bridge_agent add column organization_id text collate "C";
update bridge_agent set organization_id = facility_id;
alter table bridge_agent alter column organization_id set not null;

-- What an agent last said of itself, and how far its items have come.
create table bridge_state (
  agent_id text collate "C" primary key references bridge_agent,
  version text,
  last_seen_at timestamptz,
  skew_seconds integer,                   -- the agent's clock minus the service's, at last_seen_at
  uptime_seconds bigint,
  pending bigint,                         -- items in the agent's queue
  quarantined bigint,
  queue_bytes bigint,
  oldest_at timestamptz,                  -- when the oldest item of the queue was received
  warnings text[] not null default '{}',
  received int8multirange not null default '{}',  -- the sequence numbers that are done with: stored, refused or skipped
  skipped bigint not null default 0,      -- sequence numbers that the agent declared missing
  failing_task text collate "C",          -- the Task of the failures that go on; null: the last sync had none
  config jsonb,                           -- sources, targets and limits that replace those of the agent's own file
  config_version integer not null default 0
);

-- The items that are stored: each once, whatever an agent repeats.
create table bridge_item (
  agent_id text collate "C" not null references bridge_agent,
  item_id text collate "C" not null,
  seq bigint not null,
  message bytea,                          -- SHA-256 of an HL7 v2 message, which has a control id of its own
  stored_at timestamptz not null default now(),
  primary key (agent_id, item_id)
);
create index bridge_item_message on bridge_item (agent_id, message) where message is not null;

-- What an agent is to do. It is offered again until it is acknowledged.
create table bridge_command (
  id bigint generated always as identity primary key,
  agent_id text collate "C" not null references bridge_agent,
  type text collate "C" not null,
  payload jsonb not null,
  status text collate "C" not null default 'pending',  -- pending, done, failed
  message text,                           -- what the agent said of the outcome
  created_at timestamptz not null default now(),
  acknowledged_at timestamptz
);
create index bridge_command_pending on bridge_command (agent_id, id) where status = 'pending';
