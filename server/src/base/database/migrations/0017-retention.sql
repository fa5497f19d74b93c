-- What is deleted after a time. The times are settings of the operator.

-- Days for which the workspace keeps its runs; null: as many as the operator does.
alter table workspaces
  add column run_retention_days int check (run_retention_days between 7 and 3650);

alter table installation
  -- The process that deletes what is older than its retention; null: none at the moment.
  add column pruning_process text,
  -- When all of it was last deleted.
  add column pruned_at timestamptz;

create index sessions_by_expiry on sessions (expires_at);

-- Entries can be deleted after 30 days, whatever Beckon's settings are. An interval of hours does
-- not depend on the time zone of the session.
create function refuse_early_deletion() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are kept for at least 30 days', tg_table_name
    using errcode = 'restrict_violation';
end $$;
drop trigger only_added_to on audit;
create trigger only_added_to before update or truncate on audit
  for each statement execute function refuse_change();
create trigger kept_for_30_days before delete on audit
  for each row when (old.time > now() - interval '720 hours')
  execute function refuse_early_deletion();
