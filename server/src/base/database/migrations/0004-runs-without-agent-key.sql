-- A run's agent is the one that the statement which starts it has just found in the same workspace, and an agent is never deleted from its table: it
-- cannot point elsewhere. Checking each row again cost every start for it (docs/decisions/0010-batches-take-turns.md).
alter table runs drop constraint runs_workspace_id_agent_id_fkey;
