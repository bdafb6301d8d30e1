-- The commands of one agent, newest first, and those that failed, however many were done before.
create index bridge_command_agent on bridge_command (agent_id, id);
create index bridge_command_failed on bridge_command (agent_id) where status = 'failed';
