-- The caller's own id and tags of a run, which the caller can search for.
-- Columns without a default are not written for runs without labels, and tables are not rewritten.
alter table run_inputs
  add column external_id text,
  add column tags text[];
-- Only runs with an id of their caller are in it, so that the other runs pay nothing for it.
create index run_inputs_by_external_id on run_inputs (workspace_id, external_id, run_id)
  where external_id is not null;
