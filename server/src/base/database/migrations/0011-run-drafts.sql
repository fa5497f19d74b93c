-- The configurations of draft runs, which no version of an agent has. Like run_inputs, this table has no foreign key to runs:
-- a row is written in the statement that writes its run, and deleted in the transaction that deletes its run.
create table run_drafts (
  run_id text not null,
  workspace_id text not null,
  -- A whole configuration, as in agent_versions. It refers to secrets of the agent by their ids and contains none.
  config jsonb not null,
  -- The provider that serves the model; null if the model is built in or the operator's.
  provider_id text,
  primary key (run_id, workspace_id)
);

alter table run_drafts enable row level security;
alter table run_drafts force row level security;
create policy tenant on run_drafts using (current_setting('beckon.workspace', true) in ('*', workspace_id));
