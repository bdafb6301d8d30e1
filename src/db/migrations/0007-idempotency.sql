-- Replies to requests that came with an Idempotency-Key, written in the transaction that did their work.
create table idempotency (
  client_id text collate "C" not null,
  key text collate "C" not null,
  request bytea not null,            -- SHA-256 of method, address and body
  scopes text[] not null,            -- of the token that the reply was made for
  status smallint not null,
  headers jsonb not null,
  body bytea,
  patients text[] not null,          -- of whom the reply tells, for the audit trail
  resources integer not null,        -- of how many resources
  expires_at timestamptz not null,
  primary key (client_id, key)
);
create index idempotency_expires on idempotency (expires_at);
