-- Single entries of the usage ledger can be deleted after their retention. Their sums by day stay.

-- Time of the newest entry that was deleted; null if none was. Entries up to then are incomplete.
alter table usage_rollups add column deleted_until timestamptz;

-- The trigger can name the number of days in its argument.
create or replace function refuse_early_deletion() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are kept for at least % days', tg_table_name,
    coalesce(tg_argv[0], '30') using errcode = 'restrict_violation';
end $$;
drop trigger only_added_to on usage_entries;
-- As before, without the deletion. Only the number of the transaction can be changed.
create trigger only_added_to before truncate or update of
  run_id, seq, number, workspace_id, time, day, agent_id, source, principal, trigger_id, tags, step,
  attempt, outcome, kind, provider, model, input_tokens, output_tokens, cached_input_tokens,
  cache_write_tokens, reasoning_tokens, voice_ms, browser_ms, cost_micros, standard_cost_micros,
  price_origin, estimated
  on usage_entries for each statement execute function refuse_change();
-- Limits and plans sum up the entries of a month, and reports by hour those of 31 days.
create trigger kept_for_62_days before delete on usage_entries
  for each row when (old.time > now() - interval '1488 hours')
  execute function refuse_early_deletion('62');
