-- Messages that resources become: what is sent is made when the agent asks for it, of the resource as it is then, as far as the
-- subscriber may read it then. No message rests in the table.
alter table bridge_command
  add column resource text collate "C",       -- Type/id of what the message is made of; null: the payload is all
  add column subscription text collate "C",   -- Subscription/id that asks for it
  add column client_id text collate "C",      -- in whose name the resource is read
  add column resource_version integer;        -- of the version that was offered last; null: not offered yet
create index bridge_command_resource on bridge_command (agent_id, resource, subscription, id) where resource is not null;
