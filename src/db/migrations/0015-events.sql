-- Events: what happened, who is told of it, and how that went.

-- What happened, from the transaction of the change until it is known who is told: then the row is gone.
create table event_outbox (
  key bigint generated always as identity,
  id text collate "C" not null,            -- of the event: evt_…
  event text collate "C" not null,         -- its type; '': a change of which only FHIR subscriptions are told
  type smallint not null,                  -- the resource that tells it
  resource_id text collate "C" not null,
  version integer not null,
  happened_at timestamptz not null,
  patient text collate "C" not null,       -- id of the Patient whose Health ID is put in front of the data; '': none
  patients text collate "C" not null,      -- ids of all patients that it tells something of, with spaces between them
  data text not null,                      -- JSON object
  audience text collate "C" not null,      -- JSON array of ids of organisations; '*': whoever may see the resource
  organization_id text collate "C" not null,
  facility_id text collate "C" not null,
  request_id text collate "C" not null,
  problem text                             -- why it could not be sent out: nobody tries again
);
create index event_outbox_event on event_outbox (key) where event <> '' and problem is null;
create index event_outbox_change on event_outbox (key) where event = '' and problem is null;

-- What subscribers are told: the bytes that are signed and sent. Ids of later events sort after those of earlier ones.
create table event (
  id text collate "C" primary key,
  event text collate "C" not null,
  type smallint not null,
  resource_id text collate "C" not null,
  version integer not null,
  audience text collate "C" not null,
  patient text collate "C" not null,
  patients text collate "C" not null,
  request_id text collate "C" not null,
  body text not null                       -- '': a change of which only FHIR subscriptions are told
);

-- Where events go: a subscription of Connect, or one that is a FHIR resource.
create table webhook_endpoint (
  key bigint generated always as identity primary key,
  id text collate "C" not null unique,     -- whs_…, or Subscription/id
  client_id text collate "C" not null,
  author bigint not null,                  -- hash of the client
  organization bigint not null,            -- hash of 'Organization/id' of its organisation
  url text not null,
  events text[] collate "C" not null,      -- types; none for a FHIR subscription
  watches smallint,                        -- FHIR: the type of its criteria
  criteria text,                           -- FHIR: the query of its criteria
  media_type text,                         -- FHIR: of the resource that is sent; null: nothing is sent but word that something changed
  ends_at timestamptz,                     -- FHIR: nothing is sent afterwards
  description text not null default '',
  is_full boolean not null default false,  -- the data holds the resource
  secrets bytea not null,                  -- sealed: those it is signed with, or the headers of a FHIR subscription
  revision integer not null default 1,     -- grows with every change of what is sent and where to
  is_active boolean not null default true,
  disabled_because text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index webhook_endpoint_client on webhook_endpoint (client_id, key);
create index webhook_endpoint_watches on webhook_endpoint (watches) where watches is not null;

-- How it has gone lately: apart, since it changes all the time.
create table webhook_health (
  endpoint bigint primary key,
  failures integer not null default 0,     -- attempts that failed since one succeeded
  failing_since timestamptz,
  last_delivery_at timestamptz
) with (fillfactor = 50);

-- What is still to be delivered. Whoever works on a row holds its lease and has put the time off until the lease ends, so that
-- whatever a crash leaves is due again by itself.
create table webhook_delivery (
  endpoint bigint not null,
  event text collate "C" not null,
  id uuid not null,
  attempt smallint not null default 1,     -- the one that is due
  due_at timestamptz not null default clock_timestamp(),
  lease bigint,
  is_replay boolean not null default false,
  is_checked boolean not null default true, -- FHIR: false while it is not known whether the criteria find the resource
  primary key (endpoint, event)
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (endpoint, due_at);

-- Every attempt, and what came of it.
create table webhook_attempt (
  endpoint bigint not null,
  event text collate "C" not null,
  delivery uuid not null,
  attempt smallint not null,
  outcome text collate "C" not null check (outcome in ('delivered', 'failed', 'exhausted', 'withheld')),
  started_at timestamptz not null,
  milliseconds integer not null,
  status smallint,                         -- of HTTP
  error text,
  excerpt text,                            -- the first of the reply
  next_at timestamptz,
  primary key (endpoint, started_at, delivery, attempt)
);
create index webhook_attempt_event on webhook_attempt (event);
create index webhook_attempt_started on webhook_attempt using brin (started_at);

-- Rows live for milliseconds, so the dead are many and the living few.
alter table event_outbox set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000
);
alter table webhook_delivery set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000
);

-- Types of which FHIR subscriptions follow every change. Whoever writes has to know them: index_epoch grows with them.
create table watched_type (type smallint primary key);
