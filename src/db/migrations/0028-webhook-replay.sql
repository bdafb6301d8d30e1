-- Replays of many deliveries that a user asked for, so that their page says what came of each event. Kept as long as events are.
create table webhook_replay (
  id uuid primary key,                     -- version 7
  endpoint bigint not null,
  user_id text collate "C" not null,       -- `user/…`
  state text collate "C" not null,         -- which deliveries: missed, exhausted, withheld, delivered, all
  from_at timestamptz not null,            -- the span in which they were attempted
  to_at timestamptz not null,
  events text[] collate "C" not null
);
create index webhook_replay_endpoint on webhook_replay (endpoint, id);
