-- The request log: what was asked of the service and how it was answered, without anything of what was sent or returned. Rows are kept
-- REQUEST_LOG_DAYS. They are written in groups after the reply.
create table request_log (
  id uuid primary key,                     -- version 7, of the time at which the request came
  request_id text collate "C" not null,
  client_id text collate "C" not null,     -- a client, an agent, `user/…`, `patient` for any patient; empty: nobody proved who it is
  organization_id text collate "C" not null,
  method text collate "C" not null,
  route text collate "C" not null,         -- the pattern, not the path; empty: no route has the address
  resource_type text collate "C" not null, -- of a FHIR route; else empty
  status smallint not null,                -- 499: the client left before the reply
  error_code text collate "C" not null,    -- empty unless the request was refused or failed
  milliseconds real not null,
  bytes_in bigint,                         -- of the body; null: not known
  bytes_out bigint
);
create index request_log_organization on request_log (organization_id, id);
create index request_log_client on request_log (client_id, id);
create index request_log_route on request_log (route, id);
create index request_log_failed on request_log (organization_id, id) where status >= 400;
create index request_log_error on request_log (error_code, id) where status >= 400;
-- Request ids are random, so that a tree of them would be as large as all other indexes together.
create index request_log_request on request_log using hash (request_id);

-- Requests that are not in the log because it could not be written fast enough.
create table request_gap (
  id uuid primary key,                     -- version 7, of the first of them
  ended_at timestamptz not null,           -- the last of them
  organization_id text collate "C" not null,
  requests integer not null
);
