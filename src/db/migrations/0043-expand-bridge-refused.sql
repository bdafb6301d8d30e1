-- The items that were refused: one that comes again keeps its place among what the agent sent
-- (docs/decisions/0123-late-items.md).
create table bridge_refused (
  agent_id text collate "C" not null references bridge_agent,
  item_id text collate "C" not null,
  seq bigint not null,                    -- under which it was refused first
  primary key (agent_id, item_id)
);
