-- A run's agent is the one that the statement which starts it has just found in the same workspace, and an agent is never deleted from its table: it
-- cannot point elsewhere. Checking each row again was a sixteenth of what a run costs this database (docs/decisions/0003-gathered-writes.md).
alter table runs drop constraint runs_workspace_id_agent_id_fkey;
